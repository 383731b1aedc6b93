package profile

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/worker/executor"
)

// Options say what is measured, in the words of the flags of dodoor profile.
type Options struct {
	Class        string   // that this machine stands for
	Types, Modes []string // nil: all
	N, Warmup    int      // runs of every type and mode, and how many of them no figure counts
	Cores        float64  // that a run may use; 0: those of the class
	MemoryMB     int64    // likewise
	Duration     time.Duration
	KeepGoing    bool // leave out what fails, and go on
}

// Profiling is the runs of some task types on this machine, and what came of them.
type Profiling struct {
	Options
	c        *conf.Config
	log      *slog.Logger
	progress io.Writer // a bar, if it is a terminal; nil: none

	class     conf.Class
	limit     conf.Shape // of cores and memory, for every run that is measured
	jobs      []job
	executors map[string]executor.Executor
}

// New lists the jobs in the order of the configuration.
func New(c *conf.Config, o Options, log *slog.Logger, progress io.Writer) (*Profiling, error) {
	p := &Profiling{Options: o, c: c, log: log, progress: progress}
	return p, p.plan()
}

func (p *Profiling) plan() error {
	if p.N < 1 || p.Warmup < 0 || p.Warmup >= p.N {
		return fmt.Errorf("-n %d, -warmup %d: the warm-up is part of the runs, and leaves at least one", p.N, p.Warmup)
	}
	var known bool
	if p.class, known = p.c.Class(p.Class); !known {
		return fmt.Errorf("-class %q: must be one of %s", p.Class, strings.Join(p.c.ClassNames(), ", "))
	}
	if err := p.setLimit(); err != nil {
		return err
	}
	types, modes, err := selected(p.c.Types, p.Types, p.Modes)
	if err != nil {
		return err
	}
	told := false
	for i := range types {
		for j := range types[i].Modes {
			mode := &types[i].Modes[j]
			if modes != nil && !slices.Contains(modes, mode.Name) {
				continue
			}
			j, err := p.job(&types[i], mode)
			if err != nil {
				return err
			}
			told = told || j.told
			p.jobs = append(p.jobs, j)
		}
	}
	switch {
	case len(p.jobs) == 0:
		return errors.New("no task type has a mode to measure: types without modes take what each submission says")
	case p.Duration != 0 && !told:
		return errors.New("-duration is for executors sleep and stress-ng; the others take as long as they take")
	}
	return nil
}

// setLimit takes the limits from the flags, or from the class, which no limit can exceed.
func (p *Profiling) setLimit() error {
	p.limit = conf.Shape{Cores: p.class.Cores, MemoryMB: p.class.MemoryMB}
	if p.Cores != 0 {
		p.limit.Cores = p.Cores
	}
	if p.MemoryMB != 0 {
		p.limit.MemoryMB = p.MemoryMB
	}
	switch {
	case !(p.limit.Cores >= 0.001 && p.limit.Cores <= p.class.Cores) || millicoresOf(p.limit.Cores) != p.limit.Cores*1000:
		return fmt.Errorf("-cores %v: must be a multiple of 0.001 up to %v, which is what a node of class %s has", p.Cores, p.class.Cores,
			p.class.Name)
	case p.limit.MemoryMB < 1 || p.limit.MemoryMB > p.class.MemoryMB:
		return fmt.Errorf("-memory %d: must be between 1 and %d MiB, which is what a node of class %s has", p.MemoryMB, p.class.MemoryMB,
			p.class.Name)
	case p.Duration < 0 || p.Duration.Milliseconds() > cluster.MaxDuration || p.Duration%time.Millisecond != 0:
		return fmt.Errorf("-duration %v: allowed are whole milliseconds up to a year (8760h)", p.Duration)
	}
	if here := runtime.NumCPU(); p.limit.Cores > float64(here) {
		p.log.Warn("this machine has fewer cores than a run may use: what is measured is this machine", "cores", here, "limit", p.limit.Cores)
	}
	return nil
}

func millicoresOf(cores float64) float64 { return math.Round(cores * 1000) }

// selected returns the types asked for that have modes, and the modes; nil modes are all.
func selected(all []conf.TaskType, types, modes []string) ([]conf.TaskType, []string, error) {
	var chosen []conf.TaskType
	for i := range all {
		if len(types) == 0 && len(all[i].Modes) > 0 || slices.Contains(types, all[i].Name) {
			chosen = append(chosen, all[i])
		}
	}
	for _, name := range types {
		i := slices.IndexFunc(chosen, func(t conf.TaskType) bool { return t.Name == name })
		switch {
		case i < 0:
			return nil, nil, fmt.Errorf("-type %q: the configuration has %s", name, strings.Join(typeNames(all), ", "))
		case len(chosen[i].Modes) == 0:
			return nil, nil, fmt.Errorf("-type %s has no modes: it takes what each submission says", name)
		}
	}
	modes = slices.Clone(modes)
	for k, name := range modes {
		modes[k] = cluster.CanonicalMode(name)
		has := func(t conf.TaskType) bool {
			return slices.ContainsFunc(t.Modes, func(m conf.Mode) bool { return m.Name == modes[k] })
		}
		if !slices.ContainsFunc(chosen, has) {
			return nil, nil, fmt.Errorf("-mode %q: none of %s has it", name, strings.Join(typeNames(chosen), ", "))
		}
	}
	return chosen, modes, nil
}

func typeNames(types []conf.TaskType) []string {
	var names []string
	for _, t := range types {
		names = append(names, t.Name)
	}
	return names
}

// job says how a mode is run.
func (p *Profiling) job(t *conf.TaskType, m *conf.Mode) (job, error) {
	j := job{typ: t, mode: m, executor: t.Executor, own: m.Shape, shape: p.limit}
	if p.c.Worker.Executor != "" {
		j.executor = p.c.Worker.Executor
	}
	if i := slices.IndexFunc(m.Profiles, func(q conf.Profile) bool { return q.Class == p.class.Name }); i >= 0 {
		j.own = m.Profiles[i].Shape
	}
	if j.told = isTold(j.executor); !j.told {
		return j, nil
	}
	if j.own.Duration != 0 {
		j.shape = j.own
		if p.Cores != 0 {
			j.shape.Cores = p.Cores
		}
		if p.MemoryMB != 0 {
			j.shape.MemoryMB = p.MemoryMB
		}
	}
	if p.Duration != 0 {
		j.shape.Duration = conf.Duration(p.Duration)
	}
	switch {
	case j.shape.Duration == 0:
		return j, fmt.Errorf("%v has no figures for class %s, and executor %s has to be told how long to take: use -duration", &j, p.class.Name,
			j.executor)
	case j.shape.Cores > p.class.Cores || j.shape.MemoryMB > p.class.MemoryMB:
		return j, fmt.Errorf("%v takes %v cores and %d MiB, and a node of class %s has %v and %d", &j, j.shape.Cores, j.shape.MemoryMB,
			p.class.Name, p.class.Cores, p.class.MemoryMB)
	}
	return j, nil
}
