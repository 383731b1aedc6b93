package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// task is an accepted task that has not ended: submitted → placed → accepted by a worker → ended. There may be a
// million of them, so what most do not have is behind a pointer, and what many have in common behind another.
type task struct {
	spec        cluster.Task
	batch       *batch
	trouble     *trouble // nil: the usual life
	entries     entries  // of a command
	index       int64    // in its job
	incarnation int64    // of the worker process at node
	number      int64    // in the stream to node; 0: no placement that may still end
	received    time.Duration
	accepted    time.Duration
	view        int64 // decisions that the deciding view included
	node        int32
	worker      workerID
	attempts    int32 // placements so far
	phase       cluster.Phase
	cancel      bool // wanted; the worker may not hold the task yet
	unkept      bool // it has changed since the journal was told of it
}

// batch is what tasks that are alike have in common. Tasks without a command do not share theirs.
type batch struct {
	cluster.Kind
	lists    int       // entries of each command
	client   string    // collects the results; empty: nobody does
	user     string    // submitted them; empty: nobody in particular
	template *template // nil: the type says what runs
	bar      *bar      // of the template, for the user
	job      *job      // nil: none
	named    *named    // what is learned of them; nil: nothing
	auto     auto
	orphan   *batch // the same without a client, once a task runs again by request
}

// trouble is what only a task has that was not taken, or lost, or failed.
type trouble struct {
	waiting   time.Duration // since when no node could take it
	refusals  int           // that were not about the moment
	losses    int           // of a machine that may have had it
	failures  int           // executions that failed, and were followed by another
	earlier   []placedOn    // placements before the latest
	reason    string        // why it was placed again
	requested bool          // somebody wants it run again: that it ran before does not keep it from it
}

// placedOn is one placement of a task.
type placedOn struct {
	worker              workerID
	incarnation, number int64
	limit               need // of an execution there
}

// placed is the latest placement of a task.
func (r *Replica) placed(t *task) placedOn {
	demand, _ := t.spec.DemandOn(r.workers.class(t.worker))
	return placedOn{t.worker, t.incarnation, t.number, need{demand[cluster.Cores], demand[cluster.Memory]}}
}

// troubled returns the task's trouble, to be added to.
func (t *task) troubled() *trouble {
	if t.trouble == nil {
		t.trouble = &trouble{}
	}
	return t.trouble
}

// waits reports since when no node could take the task; 0: it does not wait.
func (t *task) waits() time.Duration {
	if t.trouble == nil {
		return 0
	}
	return t.trouble.waiting
}

// shape is what a task needs, or needed, where it was placed last.
func (r *Replica) shape(t *task) (s cluster.Shape) {
	if t.attempts > 0 {
		s, _ = t.spec.ShapeOn(r.workers.class(t.worker))
		if t.spec.Learned != nil && t.spec.Reckon > 0 {
			s.Duration = min(int64(t.spec.Reckon), cluster.MaxDuration) // it was rounded
		}
	}
	return s
}

// command returns what a worker has to run; nil: the type says it.
func (t *task) command() *cluster.Command {
	b := t.batch
	if b.template == nil {
		return nil
	}
	var c struct { // one allocation, in the most frequent case
		cluster.Command
		entry [1]string
	}
	c.Command = cluster.Command{Digest: b.template.digest, Template: b.template.shared, Index: t.index}
	if b.lists == 1 {
		c.entry[0] = string(t.entries)
		c.Entries = c.entry[:]
	} else {
		c.Entries = t.entries.list(b.lists)
	}
	if b.job != nil {
		c.Job = b.job.ID
	}
	return &c.Command
}

// unplace sets the task's latest placement aside, before the next one: it may still end.
func (r *Replica) unplace(t *task) {
	if t.number > 0 {
		x := t.troubled()
		x.earlier = append(x.earlier, r.placed(t))
	}
	t.number = 0
}
