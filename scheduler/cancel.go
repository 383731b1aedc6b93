package scheduler

import (
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// sweepMost is how many tasks of a job are looked at in one go when it is cancelled or asked for again: a scheduler with
// a million of them goes on placing meanwhile.
const sweepMost = 8192

// CancelCall asks a worker to stop a task. It may wait until others have left, so whoever sends it asks first whether it
// still Stands.
type CancelCall struct {
	Node   int
	TaskID string
	Over   bool // the task has ended by an earlier placement of it: what runs of it is of no use to this scheduler

	position int64 // of the change that has to be durable before it leaves: a next process would not know why its worker stopped it
}

// Leaves reports whether what a call follows from is durable. Those of a worker leave in order.
func (r *Replica) Leaves(c *CancelCall) bool { return c.position <= r.journal.durable }

// Stands reports whether a call is right now: it names a task, not one of its placements, and the task may have ended and
// run again meanwhile.
func (r *Replica) Stands(c *CancelCall) bool {
	t := r.tasks[c.TaskID]
	here := t != nil && int(t.node) == c.Node
	if c.Over {
		return !here
	}
	return here && t.cancel && t.phase == cluster.Accepted
}

// Cancel asks for a task's end. It is false when the task is unknown or has ended. A task that a
// worker holds ends when the worker says so.
func (r *Replica) Cancel(now time.Duration, by cluster.Asker, id string) (*Actions, bool) {
	r.begin()
	t := r.seen(by, id)
	if t == nil {
		return &r.actions, false
	}
	r.cancel(now, t)
	return &r.actions, true
}

func (r *Replica) cancel(now time.Duration, t *task) {
	if !t.cancel {
		t.cancel = true
		r.cancelling++
		r.journal.changed(t)
	}
	switch t.phase {
	case cluster.Placing:
		r.end(now, t, t.cancelled())
	case cluster.Accepted:
		r.tellCancelled(t)
	}
}

// tellCancelled has the worker that holds a cancelled task told.
func (r *Replica) tellCancelled(t *task) {
	r.stop(CancelCall{Node: int(t.node), TaskID: t.spec.ID})
}

// stop has a worker told to stop a task, once all is durable that has changed.
func (r *Replica) stop(c CancelCall) {
	c.position = r.journal.position
	r.actions.Cancel = append(r.actions.Cancel, c)
}

// cancelAgain has a worker told again of all cancelled tasks that it holds: it was out of reach, and may not have heard.
func (r *Replica) cancelAgain(index int) {
	if r.cancelling == 0 {
		return
	}
	for _, t := range r.heldBy(index) {
		if t.cancel && t.phase == cluster.Accepted {
			r.tellCancelled(t)
		}
	}
}

// CancelJob cancels what is open of a job, and returns how many tasks that is. When they are many, the others follow with
// the next ticks. Who asks again has the workers told again.
func (r *Replica) CancelJob(now time.Duration, by cluster.Asker, id string) (*Actions, int64) {
	r.begin()
	j := r.jobs.seen(by, id)
	if j == nil {
		return &r.actions, 0
	}
	r.journal.job(j)
	if j.retrying = false; j.open == 0 {
		return &r.actions, 0
	}
	open := int64(j.open)
	r.jobs.cancel(now, j)
	r.sweepJobs(now)
	return &r.actions, open
}

// sweepJobs cancels the next tasks of every job that is being cancelled.
func (r *Replica) sweepJobs(now time.Duration) {
	r.jobs.sweeping = slices.DeleteFunc(r.jobs.sweeping, func(j *job) bool { return r.sweepJob(now, j) })
}

// sweepJob looks at the next tasks of a job that is being cancelled, and reports whether it came to the end. What came
// after it was cancelled stays.
func (r *Replica) sweepJob(now time.Duration, j *job) (done bool) {
	looked, next := 0, int64(math.MaxInt64)
	var open []*task
	j.from(j.sweep, false, func(e *entry) bool {
		if looked++; looked > sweepMost {
			next = e.index
			return false
		}
		if e.outcome == cluster.NoOutcome {
			open = append(open, r.tasks[j.taskID(e.index)])
		}
		return true
	})
	for _, t := range open {
		if t.received <= j.until {
			r.cancel(now, t)
		}
	}
	j.sweep, j.sweeping = next, looked > sweepMost
	r.journal.job(j)
	return !j.sweeping
}
