package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
)

func runCancel(args []string, stdout, stderr io.Writer) int {
	o := newOptions("cancel", "cancels a job or a task, wherever it is",
		"dodoor cancel 1kdvdna00x2f4        # the job\ndodoor cancel 1kdvdna00x2f4.17     # its task 17\ndodoor cancel -cluster lab my-task",
		"local",
		stderr)
	o.visitFlags()
	if code := o.parseArgument(args, "job or task"); code >= 0 {
		return code
	}
	v, code := o.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	if !isTask(o.Arg(0)) {
		switch j, err := v.client().Job(v.ctx, o.Arg(0)); {
		case err == nil:
			return o.cancelJob(v, &j, stdout)
		case !errors.Is(err, client.ErrUnknownJob):
			return o.fail(exitFailed, err)
		}
	}
	return o.cancelTask(v, o.Arg(0), stdout)
}

func (o *options) cancelJob(v *visit, j *client.Job, stdout io.Writer) int {
	n, err := v.client().Cancel(v.ctx, j.ID)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	if n == 0 {
		return o.fail(exitFailed, fmt.Errorf("job %s has no open task", j.ID))
	}
	fmt.Fprintf(stdout, "%s of job %s: being cancelled\n", count(n, "task", "tasks"), j.ID)
	return exitDone
}

func (o *options) cancelTask(v *visit, id string, stdout io.Writer) int {
	var failures []error
	for _, s := range v.status.Schedulers {
		scheduler := v.scheduler(s.Address)
		found, err := scheduler.Cancel(v.ctx, id)
		scheduler.Close()
		if found {
			fmt.Fprintf(stdout, "%s is being cancelled by %s\n", id, s.Name)
			return exitDone
		}
		failures = append(failures, err)
	}
	if err := errors.Join(failures...); err != nil {
		return o.fail(exitFailed, err)
	}
	return o.fail(exitFailed, fmt.Errorf("no scheduler has an unfinished task %q, or a job of that name", id))
}

func runRetry(args []string, stdout, stderr io.Writer) int {
	o := newOptions("retry", "runs the tasks of a job again that ended otherwise than well", "dodoor retry -failed 1kdvdna00x2f4", "local",
		stderr)
	o.visitFlags()
	failed := o.Bool("failed", true, "those that failed, were cancelled or lost: there is no other choice")
	v, c, code := o.visitJob(args)
	if code >= 0 {
		return code
	}
	defer v.close()
	if !*failed {
		return o.fail(exitUsage, errors.New("tasks that finished are not run again: submit the job anew"))
	}
	if _, err := c.Job(v.ctx, o.Arg(0)); err != nil {
		return o.fail(exitFailed, err)
	}
	n, err := c.Retry(v.ctx, o.Arg(0))
	if err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(stdout, "%s of job %s: run again\n", count(n, "task", "tasks"), o.Arg(0))
	return exitDone
}

func runForget(args []string, stdout, stderr io.Writer) int {
	o := newOptions("forget", "has the schedulers forget a job that has ended, and the workers remove what it printed",
		"dodoor forget 1kdvdna00x2f4", "local", stderr)
	o.visitFlags()
	v, c, code := o.visitJob(args)
	if code >= 0 {
		return code
	}
	defer v.close()
	defer c.Close()
	j, err := c.Job(v.ctx, o.Arg(0))
	if err != nil {
		return o.fail(exitFailed, err)
	}
	if open := j.Open(); open > 0 {
		return o.fail(exitFailed, fmt.Errorf("job %s has %s: cancel it first, dodoor cancel %s", j.ID, count(open, "open task", "open tasks"),
			j.ID))
	}
	if _, err := c.Forget(v.ctx, j.ID); err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(stdout, "job %s is forgotten\n", j.ID)
	return exitDone
}

// jobObject is a job in JSON.
type jobObject struct {
	Job       string    `json:"job"`
	Name      string    `json:"name,omitempty"`
	Command   string    `json:"command,omitempty"`
	Submitted time.Time `json:"submitted"`
	Tasks     int64     `json:"tasks"`
	Finished  int64     `json:"finished"`
	Failed    int64     `json:"failed"`
	TimedOut  int64     `json:"timed_out"`
	Cancelled int64     `json:"cancelled"`
	Lost      int64     `json:"lost"`
	Open      int64     `json:"open"`
	Unknown   int64     `json:"unknown"` // no scheduler tells of them
	Retried   int64     `json:"retried"`
}

func jobObjectOf(j *client.Job) jobObject {
	return jobObject{j.ID, j.Name, j.Text, time.Unix(0, int64(j.Submitted)).UTC(), j.Tasks, j.Outcomes[cluster.Finished],
		j.Outcomes[cluster.Failed], j.Outcomes[cluster.TimedOut], j.Outcomes[cluster.Cancelled], j.Outcomes[cluster.Lost], j.Open(), j.Unknown,
		j.Retried}
}

// objectOf is a task of a job in JSON.
func objectOf(job string, t *cluster.JobTask) taskObject {
	return taskObject{Job: job, Index: t.Index, ID: t.ID, Entries: t.Entries, Outcome: t.Outcome.String(), ExitCode: t.ExitCode,
		Reason: t.Reason,
		Worker: t.Worker, Attempts: t.Attempts, Run: t.Run.Seconds(), Printed: t.Printed}
}

// printObject prints JSON on a line of its own.
func printObject(w io.Writer, value any) error { return json.NewEncoder(w).Encode(value) }
