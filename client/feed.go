package client

import (
	"cmp"
	"errors"
	"fmt"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/job"
)

// after feeds the client when it is hungry, and tells those who wait what has come to an end.
func (r *submission) after(c *generator.Client) *generator.Actions {
	if r.hungry(c) {
		return c.Submit(r.session.Now(), r.more(c)...)
	}
	if r.stopped && c.Posted() == 0 && !r.isQuiet {
		r.isQuiet = true
		close(r.quiet)
	}
	if r.done(c) && !r.ended {
		r.ended = true
		close(r.over)
	}
	return nil
}

// hungry reports whether the client should hear of more tasks.
func (r *submission) hungry(c *generator.Client) bool {
	if r.stopped || r.fed == r.Plan.Len() {
		return false
	}
	open, owed := c.Open(), c.Owed()
	return open-owed < backlog && (r.Ended == nil || open < r.limit)
}

// more announces the next tasks.
func (r *submission) more(c *generator.Client) []int32 {
	n := min(feed, r.Plan.Len()-r.fed)
	tasks := make([]int32, n)
	for k := range tasks {
		tasks[k] = c.Expect(job.TaskID(r.Job.ID, r.Plan.At(r.fed).Index), r.AtMostOnce)
		r.fed++
	}
	return tasks
}

// done reports whether nothing is waited for: ends, or where nobody waits for them, acceptances.
func (r *submission) done(c *generator.Client) bool {
	if !r.stopped && r.fed < r.Plan.Len() {
		return false
	}
	if r.Ended == nil {
		return c.Open() == c.Owed()
	}
	return c.Open() == 0
}

// end takes note of a task's end, and has the rest cancelled where that is due.
func (r *submission) end(e *generator.Ending) {
	ended := Ended{Outcome: cluster.Lost, Reason: e.Reason, Attempts: e.Taken}
	switch e.Cause {
	case generator.Collected:
		t := e.Record
		ended = Ended{t.Outcome, t.ExitCode, t.Reason, t.Worker, t.Attempts, t.Wait, t.Run, t.Printed, t.Output}
	case generator.NotSubmitted:
		ended.Outcome = cluster.Cancelled
	case generator.Refused:
		ended.Outcome = cluster.Failed
		r.giveUp(Refused{fmt.Errorf("%s: %s", Describe(r.Plan.At(int64(e.Task))), e.Reason)})
	case generator.NoScheduler:
		r.giveUp(Refused{errors.New(e.Reason)})
	case generator.Vanished:
		if r.Ended == nil {
			r.unsure++
			r.doubt = cmp.Or(r.doubt, fmt.Sprintf("%s: %s", Describe(r.Plan.At(int64(e.Task))), e.Reason))
		}
	}
	if r.Ended != nil {
		r.Ended(int64(e.Task), ended)
	}
	if !ended.OK() && ended.Outcome != cluster.Cancelled {
		if r.fails++; r.fails == r.Job.MaxFails {
			r.giveUp(fmt.Errorf("%d tasks failed, as many as -max-fails allows: the rest of the job is cancelled", r.fails))
		}
	}
}

// giveUp has the rest of the job cancelled. The caller holds the lock.
func (r *submission) giveUp(why error) {
	if r.failure == nil {
		r.failure = why
	}
	if !r.stopped {
		r.stopped = true
		close(r.rest)
	}
}

// Describe names a task for people: by its number, and by its entry if it is short.
func Describe(t job.Task) string {
	const short = 80
	name := fmt.Sprintf("task %d", t.Index)
	if len(t.Entries) == 0 || len(t.Entries) == 1 && t.Entries[0] == fmt.Sprint(t.Index) {
		return name
	}
	text := t.Entries[0]
	for _, e := range t.Entries[1:] {
		text += " " + e
	}
	if len(text) > short {
		text = text[:short] + "..."
	}
	return fmt.Sprintf("%s (%s)", name, text)
}
