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
	entries     []string // of a command
	index       int64    // in its job
	incarnation int64    // of the worker process at node
	number      int64    // in the stream to node; 0: no placement that may still end
	received    time.Duration
	accepted    time.Duration
	view        int64 // decisions that the deciding view included
	node        int32
	class       cluster.ClassID // of the worker
	worker      workerID
	attempts    int32 // placements so far
	phase       cluster.Phase
	cancel      bool // wanted; the worker may not hold the task yet
}

// batch is what tasks that are alike have in common. Tasks without a command do not share theirs.
type batch struct {
	cluster.Kind
	client   string    // collects the results; empty: nobody does
	template *template // nil: the type says what runs
	job      *job      // nil: none
	orphan   *batch    // the same without a client, once a task runs again by request
}

// trouble is what only a task has that was not taken, or lost, or failed.
type trouble struct {
	waiting  time.Duration // since when no node could take it
	refusals int           // that were not about the moment
	losses   int           // of a machine that may have had it
	failures int           // executions that failed, and were followed by another
	earlier  []placedOn    // placements before the latest
	reason   string        // why it was placed again
}

// placedOn is one placement of a task.
type placedOn struct {
	worker              workerID
	class               cluster.ClassID
	incarnation, number int64
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

// shape is what the task needs, or needed, where it was placed last.
func (t *task) shape() (s cluster.Shape) {
	if t.attempts > 0 {
		s, _ = t.spec.ShapeOn(t.class)
	}
	return s
}

// command returns what a worker has to run; nil: the type says it.
func (t *task) command() *cluster.Command {
	b := t.batch
	if b.template == nil {
		return nil
	}
	c := &cluster.Command{Digest: b.template.digest, Template: b.template.shared, Index: t.index, Entries: t.entries}
	if b.job != nil {
		c.Job = b.job.ID
	}
	return c
}

// unplace sets the task's latest placement aside, before the next one: it may still end.
func (t *task) unplace() {
	if t.number > 0 {
		x := t.troubled()
		x.earlier = append(x.earlier, placedOn{t.worker, t.class, t.incarnation, t.number})
	}
	t.number = 0
}

// workerID stands for a worker's name; 0 is none. A name keeps its number while the replica runs.
type workerID uint32

// workerNames numbers the names of workers, so that very many tasks can name theirs.
type workerNames struct {
	byName map[string]workerID
	names  []string
}

func newWorkerNames() workerNames {
	return workerNames{byName: map[string]workerID{}, names: []string{""}}
}

func (w *workerNames) id(name string) workerID {
	id, ok := w.byName[name]
	if !ok {
		id = workerID(len(w.names))
		w.byName[name], w.names = id, append(w.names, name)
	}
	return id
}

func (w *workerNames) name(id workerID) string { return w.names[id] }
