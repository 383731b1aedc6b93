package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/cluster"
	"dodoor/job"
)

// jobFlags are what run and submit are told: a command or a list of tasks, and how to run them.
type jobFlags struct {
	*options

	array, eachLine, from, script, image, name, cwd, stdin string
	env                                                    []string
	cores                                                  float64
	memory                                                 int64
	autoCores, autoMemory                                  bool
	needs                                                  extras
	duration, timeLimit                                    time.Duration
	retries, crashLimit                                    int
	maxFails                                               int64
	once, dryRun                                           bool
	printing                                               printFlags
}

// declareJob declares the flags that run and submit share.
func (o *options) declareJob() *jobFlags {
	f := &jobFlags{options: o, needs: extras{}}
	o.StringVar(&f.array, "array", "", "a task per `number`: A-B, A-B:STEP, several with commas between; {} and DODOOR_INDEX are the number")
	o.StringVar(&f.eachLine, "each-line", "", "a task per line of `file` (- is standard input); {} is the line")
	o.StringVar(&f.from, "from", "",
		"a task per line of `file` (- is standard input): JSON objects with argv, and if need be env, stdin, cores, "+
			"memory, duration, name")
	o.StringVar(&f.script, "script", "",
		"`file` of a script that travels with the job; its lines #DODOOR -cores 2 are flags, and the command "+
			"line's come after them")
	o.StringVar(&f.image, "image", "", "run in containers of this `image`")
	o.StringVar(&f.name, "name", "", "`name` of the job, for lists, and for what is learned of its tasks")
	o.StringVar(&f.cwd, "cwd", "", "`folder` to run in, on the worker's host; without one: on this machine the current one, "+
		"on a cluster an empty one of the task's own")
	o.StringVar(&f.stdin, "stdin", "", "`file` that every task reads as its standard input (- is this command's), at most 1 MiB")
	o.Func("env", "`NAME=VALUE` for the environment of tasks, or NAME for the value that it has here (repeatable)", func(s string) error {
		name, value, given := strings.Cut(s, "=")
		if !given {
			var there bool
			if value, there = os.LookupEnv(name); !there {
				return fmt.Errorf("%s has no value here: give it one, %s=VALUE", name, name)
			}
		}
		f.env = append(f.env, name+"="+value)
		return job.CheckEnv(name, value)
	})
	o.Func("cores", "demand of a task in `cores`, or auto: those that tasks of its name have needed; without it: on a cluster 1, on this "+
		"machine its share of them", orAuto(&f.cores, &f.autoCores, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }))
	o.Func("memory", "demand of a task in `MB` of memory, or auto: what tasks of its name have needed; without it: 0, no limit",
		orAuto(&f.memory, &f.autoMemory, func(s string) (int64, error) { return strconv.ParseInt(s, 0, 64) }))
	o.Func("need", "demand of a task in an extra resource, `NAME=AMOUNT`, as in gpu=1 or gpu=0.5 (repeatable)", f.needs.add)
	o.DurationVar(&f.duration, "duration", 0, "estimated duration of a task; 0: what tasks of its name took, or scheduler.default_duration")
	o.DurationVar(&f.timeLimit, "time-limit", 0, "kill a task after so long; 0: never")
	o.IntVar(&f.retries, "retries", 0, "run a task again so often when it exits with another code than 0")
	o.IntVar(&f.crashLimit, "crash-limit", 0, "machines that a task may lose before it is given up; 0: scheduler.max_attempts")
	o.Int64Var(&f.maxFails, "max-fails", 0,
		"cancel the rest of the job after so many failed tasks (with -retries: after their last try); 0: never")
	o.BoolVar(&f.once, "at-most-once", false, "never run a task again after a failure of its machine")
	o.BoolVar(&f.dryRun, "dry-run", false, "print what would run, a line per task, and run nothing")
	return f
}

// orAuto reads a number, or the word auto.
func orAuto[N any](number *N, auto *bool, parse func(string) (N, error)) func(string) error {
	return func(s string) (err error) {
		if *auto = s == job.Auto; *auto {
			var none N
			*number = none
			return nil
		}
		if *number, err = parse(s); err != nil {
			return fmt.Errorf("a number is expected, or %s", job.Auto)
		}
		return nil
	}
}

// parseJob reads a command line, and the flags of the script that it names before those of its own. Declare makes the
// flags anew.
func parseJob(declare func() *jobFlags, args []string) (*jobFlags, []byte, int) {
	f := declare()
	if code := f.parseFlags(args); code >= 0 || f.script == "" {
		return f, nil, code
	}
	script, err := readBounded(f.script, "script")
	if err != nil {
		return f, nil, f.fail(exitUsage, err)
	}
	words, err := job.Directives(script)
	if err == nil && len(words) > 0 {
		inside := declare()
		inside.SetOutput(io.Discard)
		inside.Usage = func() {}
		switch err = inside.Parse(words); {
		case err == nil && inside.NArg() > 0:
			err = fmt.Errorf("%q is no flag", inside.Arg(0))
		case err == nil && (inside.script != "" || inside.from != ""):
			err = errors.New("-script and -from are for the command line")
		}
		if err == nil {
			f = declare()
			if code := f.parseFlags(append(words, args...)); code >= 0 {
				return f, nil, code
			}
		}
	}
	if errors.Is(err, flag.ErrHelp) {
		err = errors.New("-help is for the command line")
	}
	if err != nil {
		return f, nil, f.fail(exitUsage, fmt.Errorf("%s: #DODOOR: %w", f.script, err))
	}
	return f, script, -1
}

// check refuses flags that contradict each other.
func (f *jobFlags) check() error {
	stdins := 0
	for _, file := range []string{f.stdin, f.eachLine, f.from} {
		if file == "-" {
			stdins++
		}
	}
	empty := ""
	f.Visit(func(g *flag.Flag) {
		if g.Value.String() == "" && slices.Contains([]string{"array", "each-line", "from", "script"}, g.Name) {
			empty = g.Name
		}
	})
	switch {
	case empty != "":
		return fmt.Errorf("-%s is empty: there is nothing to run", empty)
	case f.from != "" && (f.script != "" || f.NArg() > 0 || f.eachLine != ""):
		return errors.New("-from has the commands in its lines: leave out -script, -each-line and a command of your own")
	case f.array != "" && f.from != "":
		return errors.New("-array and -from: a job has one list of tasks")
	case f.array != "" && f.eachLine != "":
		return errors.New("-array and -each-line: a job has one or the other")
	case f.retries < 0 || f.crashLimit < 0 || f.maxFails < 0:
		return errors.New("-retries, -crash-limit and -max-fails cannot be negative")
	case f.retries > cluster.MaxAgain || f.crashLimit > cluster.MaxAgain:
		return fmt.Errorf("-retries and -crash-limit are at most %d", cluster.MaxAgain)
	case len(f.name) > cluster.MaxName:
		return fmt.Errorf("-name has %d bytes: at most %d are allowed", len(f.name), cluster.MaxName)
	case f.timeLimit < 0 || f.timeLimit%time.Millisecond != 0:
		return fmt.Errorf("-time-limit %v: allowed are whole milliseconds up to a year (8760h), and 0 for none", f.timeLimit)
	case stdins > 1:
		return errors.New("standard input can be read once: for one of -stdin, -each-line and -from")
	}
	return f.printing.check()
}
