package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/job"
)

const submitExample = `dodoor submit -array 1-1000 -cores 2 -memory 512 -duration 30s -name sim -- ./sim -seed {}
dodoor submit -script job.sh -array 1-100           # its lines "#DODOOR -cores 2" are flags
dodoor submit -image lab/tool:3 -- tool {} ::: a b c
dodoor submit -from tasks.ndjson -wait -out results
dodoor submit -cluster lab -type lr_train -mode short   # a task of one of the configuration's types`

// typedFlags are of a task of one of the configuration's types.
type typedFlags struct {
	id, typ, mode string
	nowait        bool
}

func runSubmit(args []string, stdout, stderr io.Writer) int {
	var typed typedFlags
	var wait bool
	declare := func() *jobFlags {
		o := newOptions("submit", "submits a job, prints its id and returns; or one task of a type (-type), and waits for its end",
			submitExample, "local", stderr)
		o.visitFlags()
		o.BoolVar(&wait, "wait", false, "wait for the ends of all tasks, and print what they print, as dodoor run does")
		o.StringVar(&typed.typ, "type", "", "one task of this `type`, of the configuration's [[task_type]] tables, instead of a command")
		o.StringVar(&typed.mode, "mode", "", "with -type: mode of the type")
		o.StringVar(&typed.id, "id", "", "with -type: id of the task; made up when empty")
		o.BoolVar(&typed.nowait, "no-wait", false, "with -type: return as soon as it is accepted")
		f := o.declareJob()
		o.attendFlags(&f.printing)
		return f
	}
	f, script, code := parseJob(declare, args)
	if code >= 0 {
		return code
	}
	if err := cmp.Or(f.check(), typed.check(f, wait)); err != nil {
		return f.fail(exitUsage, err)
	}
	switch {
	case typed.typ != "":
		return f.submitTyped(&typed, stdout)
	case wait:
		return f.runThere(script, stdout)
	}
	return f.submitJob(script, stdout)
}

// check refuses flags that mean nothing together.
func (t *typedFlags) check(f *jobFlags, wait bool) error {
	command := f.NArg() > 0 || f.script != "" || f.from != ""
	switch {
	case t.typ != "" && (command || f.array != "" || f.eachLine != ""):
		return errors.New("-type is one task of the configuration's: leave out the command and its lists, or -type")
	case t.typ != "" && len(f.needs) > 0:
		return errors.New("-need is for commands: a task of a type needs what its type says")
	case t.typ == "" && (t.mode != "" || t.id != "" || t.nowait):
		return errors.New("-mode, -id and -no-wait go with -type")
	case t.typ == "" && !wait && f.printing.given() != "":
		return fmt.Errorf("%s is for whoever waits: add -wait, or see dodoor logs", f.printing.given())
	}
	return nil
}

// submitJob submits a job and returns.
func (f *jobFlags) submitJob(script []byte, stdout io.Writer) int {
	return f.there(script, stdout, func(v *visit, c *client.Cluster, s *client.Submission) int {
		if err := c.Submit(v.ctx, s, client.Interrupts{}); err != nil {
			if _, unsure := errors.AsType[client.Uncertain](err); unsure {
				err = fmt.Errorf("job %s is submitted, but %w; %s tells", s.Job.ID, err, f.again("job", "-all", s.Job.ID))
			}
			return f.fail(exitFailed, err)
		}
		if _, err := fmt.Fprintln(stdout, s.Job.ID); err != nil {
			return f.fail(exitFailed, fmt.Errorf("job %s is submitted, but its id could not be printed: %w", s.Job.ID, err))
		}
		return exitDone
	})
}

// submitTyped submits one task of a type.
func (f *jobFlags) submitTyped(t *typedFlags, stdout io.Writer) int {
	spec := cluster.TaskSpec{ID: t.id, Type: t.typ, Mode: t.mode, AtMostOnce: f.once, TimeScale: 1, LearnCores: f.autoCores,
		LearnMemory: f.autoMemory}
	if spec.ID == "" {
		spec.ID = fmt.Sprintf("task-%x", time.Now().UnixNano())
	}
	if err := explicitFigures(&spec, f.cores, f.memory, f.duration); err != nil {
		return f.fail(exitUsage, err)
	}
	v, code := f.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	record, err := v.client().SubmitTask(v.ctx, spec, !t.nowait)
	switch {
	case v.ctx.Err() != nil:
		return f.fail(exitFailed, fmt.Errorf("interrupted: a scheduler may have task %s, which goes on then; %s shows it, %s ends it", spec.ID,
			f.again("tasks", "-id", spec.ID), f.again("cancel", spec.ID)))
	case err != nil:
		if _, unsure := errors.AsType[client.Uncertain](err); unsure {
			err = fmt.Errorf("task %s: %w; %s tells where it is", spec.ID, err, f.again("tasks", "-id", spec.ID))
		}
		return f.fail(exitFailed, err)
	case record == nil:
		fmt.Fprintf(stdout, "%s accepted\n", spec.ID)
		return exitDone
	}
	fmt.Fprintln(stdout, taskTable([]cluster.TaskStatus{{ID: record.ID, Type: record.Type, Mode: record.Mode, Phase: cluster.Ended,
		Node: record.Worker, Scheduler: record.Scheduler, Record: record}}))
	if record.Outcome != cluster.Finished {
		return exitFailed
	}
	return exitDone
}

// explicitFigures takes the demand and duration that the person gave.
func explicitFigures(s *cluster.TaskSpec, cores float64, memory int64, duration time.Duration) error {
	millicores, err := job.Millicores(cores)
	if err != nil {
		return fmt.Errorf("-cores %w, and 0 for the type's profile", err)
	}
	if memory < 0 || memory > cluster.MaxAmount {
		return fmt.Errorf("-memory %d: allowed are 0 to %d MB", memory, cluster.MaxAmount)
	}
	if millicores > 0 || memory > 0 {
		s.Demand = &cluster.Resources{cluster.Cores: millicores, cluster.Memory: memory}
	}
	if s.Duration, err = job.Milliseconds(duration); err != nil {
		return fmt.Errorf("-duration %w, and 0 for the type's profile", err)
	}
	return nil
}
