package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	c := v.asking()
	defer c.Close()
	if isTask(o.Arg(0)) {
		return o.cancelTask(v.ctx, c, stdout)
	}
	j, err := c.Job(v.ctx, o.Arg(0))
	if err == nil || j.Accepted > 0 {
		return o.cancelJob(v.ctx, c, stdout)
	}
	// no scheduler that answers knows such a job: it is what workers have of one, or a task
	if n, _ := c.Cancel(v.ctx, o.Arg(0)); n > 0 {
		o.cancelling(n, stdout)
		if errors.Is(err, client.ErrUnknownJob) {
			return exitDone
		}
		return o.fail(exitFailed, err)
	}
	return o.cancelTask(v.ctx, c, stdout)
}

func (o *options) cancelJob(ctx context.Context, c *client.Cluster, stdout io.Writer) int {
	n, err := c.Cancel(ctx, o.Arg(0))
	if n > 0 {
		o.cancelling(n, stdout)
	}
	if err != nil {
		return o.fail(exitFailed, fmt.Errorf("what they alone have of it goes on: %w", err))
	}
	if n == 0 {
		return o.fail(exitFailed, fmt.Errorf("job %s has no open task", o.Arg(0)))
	}
	return exitDone
}

func (o *options) cancelling(n int64, stdout io.Writer) {
	fmt.Fprintf(stdout, "%s of job %s: being cancelled\n", count(n, "task", "tasks"), o.Arg(0))
}

func (o *options) cancelTask(ctx context.Context, c *client.Cluster, stdout io.Writer) int {
	by, err := c.CancelTask(ctx, o.Arg(0))
	switch {
	case len(by) > 0:
		fmt.Fprintf(stdout, "%s is being cancelled by %s\n", o.Arg(0), strings.Join(by, ", "))
		if err != nil {
			fmt.Fprintf(o.stderr, "dodoor cancel: of these nobody knows whether they have it as well: %v\n", err)
		}
		return exitDone
	case err != nil:
		return o.fail(exitFailed, err)
	}
	return o.fail(exitFailed, fmt.Errorf("no scheduler that is registered and no worker has an unfinished task %q, and there is no job "+
		"of that name", o.Arg(0)))
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
	if _, err := o.known(v, c); err != nil {
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
	j, err := o.known(v, c)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	if open := j.Open(); open > 0 {
		return o.fail(exitFailed, fmt.Errorf("job %s has %s: cancel it first, %s", j.ID, count(open, "open task", "open tasks"),
			o.again("cancel", j.ID)))
	}
	if _, err := c.Forget(v.ctx, j.ID); err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(stdout, "job %s is forgotten\n", j.ID)
	return exitDone
}

// known is the job that the argument names, if all of it is known: what a scheduler has that is away would be left behind.
func (o *options) known(v *visit, c *client.Cluster) (client.Job, error) {
	j, err := c.Job(v.ctx, o.Arg(0))
	switch {
	case errors.Is(err, client.ErrUnknownJob), v.ctx.Err() != nil:
	case err != nil:
		err = fmt.Errorf("job %s may be with a scheduler that is away: start that again, or name all that there are with -schedulers: %w",
			o.Arg(0), err)
	case j.Unknown > 0:
		err = fmt.Errorf("job %s: no scheduler that is registered tells of %d of its %s: wait until they are submitted, or start the "+
			"scheduler again that has them; otherwise the job is forgotten by itself, scheduler.retain_jobs after its last end", j.ID,
			j.Unknown, count(j.Tasks, "task", "tasks"))
	}
	return j, err
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
