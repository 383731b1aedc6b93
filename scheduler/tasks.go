package scheduler

import (
	"strconv"
	"time"

	"dodoor/internal/cluster"
)

// task is an accepted task that has not ended: submitted → placed → accepted by a worker → ended.
type task struct {
	spec     cluster.Task
	client   string
	phase    cluster.Phase
	node     int
	worker   string
	class    cluster.ClassID
	shape    cluster.Shape // on the class of node
	number   int64         // in the stream to node
	attempts int           // placements so far
	received time.Duration
	accepted time.Duration
	waiting  time.Duration // since when no node could take it
	refusals int           // that were not about the moment
	losses   int           // of a machine that may have had it
	placed   []placedOn    // every placement of it
	first    [1]placedOn   // the usual placements, without another allocation
	view     int64         // decisions that the deciding view included
	cancel   bool          // wanted; the worker may not hold the task yet
	reason   string        // why it was placed again
}

// placedOn is one placement of a task.
type placedOn struct {
	worker              string
	incarnation, number int64
	class               cluster.ClassID
}

// Admit tells whether the replica takes n more tasks now; the error is cluster.Draining or
// cluster.Overloaded.
func (r *Replica) Admit(n int) error {
	switch {
	case r.draining:
		return cluster.Errorf(cluster.Draining, "scheduler %s is shutting down; submit to another", r.cfg.Name)
	case r.pending+n > r.cfg.MaxPending:
		return cluster.Errorf(cluster.Overloaded, "scheduler %s holds %d unfinished tasks (max_pending = %d); submit later or to another",
			r.cfg.Name, r.pending, r.cfg.MaxPending)
	case len(r.view.candidates) == 0:
		return cluster.Errorf(cluster.Overloaded, "scheduler %s: no worker takes placements now (%d registered); submit later or to another",
			r.cfg.Name, len(r.nodes.byName))
	case r.results.full():
		return cluster.Errorf(cluster.Overloaded, "scheduler %s holds %d results that nobody collected (retain_results = %d); collect them first",
			r.cfg.Name, r.results.len(), r.cfg.RetainResults)
	}
	return nil
}

// Submit accepts a task and places it from the cached view, or refuses it with the reason. An accepted
// task reaches exactly one terminal state, which its client can collect.
func (r *Replica) Submit(now time.Duration, client string, s *cluster.TaskSpec) (*Actions, *cluster.Refusal) {
	r.begin()
	if r.holds(s.ID) {
		r.stats.Refused++
		return &r.actions, refuse(s.ID, cluster.DuplicateTask, "scheduler %s already has a task with this id", r.cfg.Name)
	}
	t := r.spare.Take()
	*t = task{client: client, phase: cluster.Placing, node: NoNode, received: now}
	t.placed = t.first[:0]
	if refusal := r.catalog.Resolve(s, &t.spec); refusal != nil {
		r.stats.Refused++
		return &r.actions, refusal
	}
	r.tasks[s.ID] = t
	if !r.decide(now, t) {
		delete(r.tasks, s.ID)
		r.stats.Refused++
		return &r.actions, r.infeasible(&t.spec)
	}
	r.pending++
	return &r.actions, nil
}

// recycle takes the memory of an ended task back. A policy that waits for probes may still know the task,
// and so may the line of tasks that no node could take.
func (r *Replica) recycle(t *task) {
	if r.wants.Loads != Unread && t.waiting == 0 {
		r.spare.Put(t)
	}
}

func (r *Replica) holds(id string) bool {
	if _, live := r.tasks[id]; live {
		return true
	}
	return r.results.byID[id] != nil
}

// Probed hands a probe's answer to the policy.
func (r *Replica) Probed(now time.Duration, p Probe) *Actions {
	r.begin()
	if prober, ok := r.policy.(Prober); ok {
		r.perform(now, prober.Probed(now, p, r.view), nil)
	}
	return &r.actions
}

// decide asks the policy; false means that no candidate is feasible.
func (r *Replica) decide(now time.Duration, t *task) bool {
	decision := r.policy.Submit(now, &t.spec, r.view)
	if len(decision.Place) == 0 && len(decision.Probe) == 0 {
		return false
	}
	r.perform(now, decision, t)
	return true
}

// perform turns a policy's decision into dispatches and probes. A policy that was asked about one task may
// choose for others as well, and one that waited for a probe may choose a node that left in the meantime; then
// it is asked again.
func (r *Replica) perform(now time.Duration, decision Decision, asked *task) {
	for _, p := range decision.Place {
		t := asked
		if asked == nil || p.Task != &asked.spec {
			t = r.tasks[p.Task.ID]
		}
		switch {
		case t == nil || t.phase != cluster.Placing:
		case r.nodes.takesPlacements(p.Node):
			r.assign(now, t, p.Node)
		default:
			r.replace(now, t, "the node left while it was probed", false)
		}
	}
	r.actions.Probe = append(r.actions.Probe, decision.Probe...)
}

// assign binds a task to a node and books it.
func (r *Replica) assign(now time.Duration, t *task, index int) {
	n := &r.nodes.slots[index]
	t.class = r.view.nodes[index].Class
	t.shape, _ = t.spec.ShapeOn(t.class)
	t.node, t.worker, t.phase, t.view = index, n.Name, cluster.Sent, r.view.Decisions
	t.accepted = 0
	t.attempts++
	t.number = r.account(now, index, cluster.LoadOf(t.shape))
	t.placed = append(t.placed, placedOn{n.Name, n.Incarnation, t.number, t.class})
	r.actions.Send = append(r.actions.Send, Dispatch{
		Node: index, NodeIncarnation: n.Incarnation, Placed: n.stream.placed,
		Assignment: cluster.Assignment{Number: t.number, TaskID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode,
			Shape: t.shape, TimeScale: t.spec.TimeScale},
	})
}

// Acknowledged takes a worker's answer to a batch of placements. Refused ones go to the next candidate.
func (r *Replica) Acknowledged(now time.Duration, batch []Dispatch, reply *cluster.EnqueueReply) *Actions {
	r.begin()
	if len(batch) > 0 {
		r.ride(batch[0].Node, reply.Report)
	}
	for i := range batch {
		d := &batch[i]
		t := r.current(d)
		if t == nil {
			continue
		}
		if refusal := refusalOf(reply, d.Assignment.Number); refusal != nil {
			t.spec.Tried = append(t.spec.Tried, int32(d.Node))
			r.tryNext(now, t, refusal)
			continue
		}
		t.phase, t.accepted, t.waiting = cluster.Accepted, now, 0
		if t.cancel {
			r.actions.Cancel = append(r.actions.Cancel, CancelCall{t.node, t.spec.ID})
		}
	}
	return &r.actions
}

// current returns the task of a dispatch if that is still its latest placement and on its way.
func (r *Replica) current(d *Dispatch) *task {
	t := r.tasks[d.Assignment.TaskID]
	if t == nil || t.phase != cluster.Sent || t.node != d.Node || t.number != d.Assignment.Number {
		return nil
	}
	if _, same := r.nodes.at(d.Node, d.NodeIncarnation); !same {
		return nil
	}
	return t
}

func refusalOf(reply *cluster.EnqueueReply, number int64) *cluster.Refusal {
	for i := range reply.Refused {
		if reply.Refused[i].Number == number {
			return &reply.Refused[i]
		}
	}
	return nil
}

// tryNext places a refused task on another candidate, or fails it with the worker's reason.
func (r *Replica) tryNext(now time.Duration, t *task, refusal *cluster.Refusal) {
	reason := "worker " + t.worker + " refused it: " + refusal.Error()
	t.spec.Attempt++
	t.phase, t.node, t.reason = cluster.Placing, NoNode, reason
	if !refusal.Code.Passing() {
		t.refusals++
	}
	switch {
	case t.cancel:
		r.end(now, t, cancelled)
	case t.refusals >= r.cfg.MaxAttempts:
		r.end(now, t, cluster.Completion{Outcome: cluster.Failed, ExitCode: -1, Reason: reason})
	case r.decide(now, t):
		r.stats.Retries++
	case refusal.Code.Passing():
		r.wait(now, t)
	default:
		r.end(now, t, cluster.Completion{Outcome: cluster.Failed, ExitCode: -1, Reason: reason})
	}
}

var cancelled = cluster.Completion{Outcome: cluster.Cancelled, ExitCode: -1, Reason: "cancelled by request"}

// replace places a task again whose machine was lost; without a feasible node it waits for one.
//
// A machine that never got it is no loss: when many die at once, a scheduler learns of each as it tries it,
// and every one of them leaves the candidates.
func (r *Replica) replace(now time.Duration, t *task, reason string, arrived bool) {
	t.spec.Attempt++
	t.phase, t.node, t.reason = cluster.Placing, NoNode, reason
	if arrived {
		t.losses++
	}
	switch {
	case t.cancel:
		r.end(now, t, cancelled)
	case t.losses >= r.cfg.MaxAttempts:
		r.end(now, t, lost(reason+" (the last of "+strconv.Itoa(t.losses)+" losses)"))
	case r.decide(now, t):
		r.stats.Retries++
	default:
		r.wait(now, t)
	}
}

// wait keeps a task that no node can take now. Nodes that refused it for the moment may take it later.
func (r *Replica) wait(now time.Duration, t *task) {
	if t.waiting == 0 {
		t.waiting = now
	}
	t.spec.Tried = nil
	r.unplaced = append(r.unplaced, t)
}

// retryEvery bounds how often waiting tasks are tried while the set of candidates stays the same.
const retryEvery = 200 * time.Millisecond

// retryUnplaced tries tasks again that wait for a feasible node, and gives up on those that waited too
// long.
func (r *Replica) retryUnplaced(now time.Duration) {
	if len(r.unplaced) == 0 || r.unplacedSeen == r.nodes.changes && now-r.unplacedTried < retryEvery {
		return
	}
	r.unplacedSeen, r.unplacedTried = r.nodes.changes, now
	waiting := r.unplaced
	r.unplaced = nil
	for _, t := range waiting {
		switch {
		case t.phase != cluster.Placing || t.node != NoNode:
		case now-t.waiting >= r.cfg.ReplaceTimeout:
			r.end(now, t, lost(t.reason+", and no node took it for "+r.cfg.ReplaceTimeout.String()))
		case r.decide(now, t):
			r.stats.Retries++
		default:
			r.unplaced = append(r.unplaced, t)
		}
	}
}
