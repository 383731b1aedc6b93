package profile

import (
	"fmt"
	"runtime"

	"dodoor/conf"
)

// job is one mode of a type.
type job struct {
	typ      *conf.TaskType
	mode     *conf.Mode
	executor string
	shape    conf.Shape // what a run is confined to or, where its demand is what it is told to take, told
	told     bool
	own      conf.Shape // the figures so far; zero where there are none

	free   []Run      // under shape
	demand conf.Shape // that they had; zero where shape is told
	runs   []Run      // under demand, or the same
	others float64    // cores that others kept busy meanwhile
	err    error      // of the run that failed
}

func (j *job) String() string { return j.typ.Name + " " + j.mode.Name }

// What an executor is told to take, it takes: its demand and duration are settings and no findings.
func isTold(executor string) bool { return executor == "sleep" || executor == "stress-ng" }

// run finds out what a job needs from n runs under its limit. Where that is less, the job runs again under
// what it needs, as it will on workers: it may take longer then, and that is what counts.
func (j *job) run(n, warmup int, once func(limit conf.Shape) (Run, error)) error {
	for k := range n {
		run, err := once(j.shape)
		if err != nil {
			return fmt.Errorf("%v, run %d of %d: %w", j, k+1, n, err)
		}
		if k >= warmup {
			j.free = append(j.free, run)
		}
	}
	if j.runs = j.free; j.told {
		return nil
	}
	if j.demand = Demand(j.free, j.shape); !j.narrowed() {
		return nil
	}
	j.runs = nil
	for k := range n - warmup {
		run, err := once(j.demand)
		if err != nil {
			return fmt.Errorf("%v, run %d of %d under the demand that was found, %v cores and %d MiB: %w", j, k+1, n-warmup, j.demand.Cores,
				j.demand.MemoryMB, err)
		}
		j.runs = append(j.runs, run)
	}
	return nil
}

// figures is what schedulers are to know of a job. What nobody measures, disk and extras, stays as it was.
func (j *job) figures() conf.Shape {
	s := j.shape
	if !j.told {
		s = j.demand
		s.DiskMB, s.Extra = j.own.DiskMB, j.own.Extra
	}
	s.Duration = Duration(j.runs)
	return s
}

// narrowed reports whether the job ran again, under less than its limit.
func (j *job) narrowed() bool { return !j.told && j.demand.Cores < j.shape.Cores }

// statistics are how long the job takes under its demand, and the use under its limit that the demand
// comes from.
func (j *job) statistics() Statistics {
	s, use := StatisticsOf(j.runs), StatisticsOf(j.free)
	s.Cores, s.PeakMemory = use.Cores, use.PeakMemory
	return s
}

// summary is a line for people.
func (j *job) summary() string {
	line := j.statistics().String()
	if j.narrowed() {
		line += fmt.Sprintf(" (with cores = %v: mean %d ms)", j.shape.Cores, StatisticsOf(j.free).Mean.Milliseconds())
	}
	return line
}

// note is the comment on a job's figures.
func (j *job) note() string {
	note := j.summary()
	if crowded(runtime.NumCPU(), j.others, j.shape.Cores) {
		note += fmt.Sprintf(" (DISTURBED: others kept %.1f cores busy)", j.others)
	}
	return note
}
