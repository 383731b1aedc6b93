package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"math/rand/v2"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/job"
)

// maxFile bounds what is read of a file that is to be in memory. A task that has a line of its own in one has its own
// template as well, which takes many times its bytes on its way.
const (
	maxFile = 4 << 30
	maxFrom = 256 << 20
)

// readBounded reads a file that is part of every task, or standard input.
func readBounded(path, what string) ([]byte, error) { return readFile(path, what, cluster.MaxStdin) }

// readFile reads a file to its end, unless it has more than so many bytes.
func readFile(path, what string, most int64) ([]byte, error) {
	var from io.Reader = os.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case int64(len(text)) > most:
		return nil, fmt.Errorf("%s: %s has more than %d bytes", what, path, most)
	}
	return text, nil
}

// template is what the tasks share, but for their arguments.
func (f *jobFlags) template(script []byte) (t cluster.Template, err error) {
	t = cluster.Template{Env: f.env, Script: script, Image: f.image, Workdir: f.cwd, TimeLimit: f.timeLimit}
	if f.stdin != "" {
		t.Stdin, err = readBounded(f.stdin, "-stdin")
	}
	return t, err
}

// plan is the tasks that the command line asks for, of a template.
func (f *jobFlags) plan(t cluster.Template, figures job.Figures) (job.Plan, error) {
	if f.from != "" {
		text, err := readFile(f.from, "-from", maxFrom)
		if err != nil {
			return nil, err
		}
		p, err := job.ReadTasks(text, t, figures)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.from, err)
		}
		return p, nil
	}
	argv, sources := job.Split(f.Args())
	t.Argv = argv
	if len(argv) == 0 && len(t.Script) == 0 {
		return nil, errors.New("there is no command: " + f.Name() + " [flags] -- COMMAND ARGUMENTS..., or -script FILE, or -from FILE")
	}
	inputs, err := f.inputs(sources)
	if err != nil {
		return nil, err
	}
	var array *job.Array
	if f.array != "" {
		if array, err = job.ParseArray(f.array); err != nil {
			return nil, err
		}
	}
	return job.NewPlan(&t, inputs, array, figures)
}

// inputs reads the lists: -each-line, and those behind the command.
func (f *jobFlags) inputs(sources []job.Source) (in job.Inputs, err error) {
	lines := func(path, what string, linked bool) error {
		text, err := readFile(path, what, maxFile)
		if err != nil {
			return err
		}
		return in.Add(what+" "+path, job.Lines(text), linked)
	}
	if f.eachLine != "" {
		if err := lines(f.eachLine, "-each-line", false); err != nil {
			return in, err
		}
	}
	for _, s := range sources {
		switch {
		case s.Files && len(s.Items) == 0:
			return in, fmt.Errorf("%s without a file: it is followed by files with an entry per line", s.Word)
		case !s.Files:
			if err := in.Add(s.Word, s.Items, s.Linked); err != nil {
				return in, err
			}
			continue
		}
		for _, path := range s.Items {
			if err := lines(path, s.Word, s.Linked); err != nil {
				return in, err
			}
		}
	}
	return in, nil
}

// figures are the demand and duration of every task; without -cores a task demands so many millicores.
func (f *jobFlags) figures(millicores int64) (job.Figures, error) {
	var s cluster.TaskSpec
	if err := explicitFigures(&s, f.cores, f.memory, f.duration); err != nil {
		return job.Figures{}, err
	}
	if s.Demand == nil {
		s.Demand = &cluster.Resources{}
	}
	if f.cores == 0 {
		s.Demand[cluster.Cores] = millicores
	}
	if len(f.needs) > 0 {
		c, err := conf.Load(f.conf, f.sets, f.types...)
		if err == nil {
			err = f.needs.demand(s.Demand, c)
		}
		if err != nil {
			return job.Figures{}, err
		}
	}
	return job.Figures{Demand: s.Demand, Duration: s.Duration, LearnCores: f.autoCores, LearnMemory: f.autoMemory}, nil
}

// job names what is submitted.
func (f *jobFlags) job(p job.Plan) cluster.Job {
	now := time.Duration(time.Now().UnixNano())
	return cluster.Job{ID: job.NewID(now, rand.Uint64()), Name: f.name, Text: f.text(), Tasks: p.Len(), Submitted: now,
		Retries: f.retries, CrashLimit: f.crashLimit, MaxFails: f.maxFails}
}

// text is the command line for people, as far as it is short.
func (f *jobFlags) text() string {
	const longest = 200
	words := f.Args()
	switch {
	case f.from != "":
		words = []string{"-from", f.from}
	case f.script != "":
		words = append([]string{f.script}, words...)
	}
	text := job.Quote(words[:min(len(words), longest)])
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest-3], "") + "..."
	}
	return text
}

// printPlan writes what would run.
func (f *jobFlags) printPlan(p job.Plan, w io.Writer) error {
	for i := range p.Len() {
		t := p.At(i)
		argv := job.Argv(t)
		if len(t.Template.Script) > 0 {
			argv = append([]string{f.script}, argv...)
		}
		if _, err := fmt.Fprintln(w, job.Quote(argv)); err != nil {
			return err
		}
	}
	return nil
}
