package scheduler

import (
	"strconv"
	"time"

	"dodoor/internal/cluster"
)

// recycle takes the memory of an ended task back. A policy that waits for probes may still know the task,
// and so may the line of tasks that no node could take.
func (r *Replica) recycle(t *task) {
	if r.wants.Loads == Unread || t.waits() > 0 {
		return
	}
	if t.batch.template == nil {
		r.batches.Put(t.batch)
	}
	r.spare.Put(t)
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
	r.experience.ready(t.batch.named)
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
	r.unplace(t)
	class := r.view.nodes[index].Class
	shape, _ := t.spec.ShapeOn(class)
	t.node, t.worker, t.incarnation, t.phase, t.view = int32(index), n.id, n.Incarnation, cluster.Sent, r.view.Decisions
	t.accepted, t.spec.Reckon = 0, float32(shape.Duration)
	t.attempts++
	t.number = r.account(now, index, cluster.LoadOf(shape))
	r.keepPlacement(n, t)
	r.actions.Send = append(r.actions.Send, Dispatch{
		Node: index, NodeIncarnation: n.Incarnation, Placed: n.stream.placed, template: t.batch.template, position: r.journal.position,
		Assignment: cluster.Assignment{Number: t.number, TaskID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode,
			Shape: shape, Takes: t.spec.TakesOn(class, shape.Duration), Guessed: t.spec.GuessedOn(class),
			TimeScale: t.spec.TimeScale, Command: t.command(), Attempt: int(t.attempts),
			AtMostOnce: t.spec.AtMostOnce && (t.trouble == nil || !t.trouble.requested), User: t.batch.user},
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
			r.endedThere(t)
			r.refused(now, t, d, refusal)
			continue
		}
		t.phase, t.accepted = cluster.Accepted, now
		if t.trouble != nil {
			t.trouble.waiting = 0
		}
		if t.cancel {
			r.tellCancelled(t)
		}
	}
	if len(batch) > 0 {
		if _, same := r.nodes.at(batch[0].Node, batch[0].NodeIncarnation); same {
			r.templates.answered(batch, reply)
		}
	}
	return &r.actions
}

// current returns the task of a dispatch if that is still its latest placement and on its way.
func (r *Replica) current(d *Dispatch) *task {
	t := r.tasks[d.Assignment.TaskID]
	if t == nil || t.phase != cluster.Sent || int(t.node) != d.Node || t.number != d.Assignment.Number {
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

// refused finds another place for a task that its worker did not take. A worker that does not know a template which
// it had is asked again; one that does not allow a command is asked by no task of that template for a while.
func (r *Replica) refused(now time.Duration, t *task, d *Dispatch, refusal *cluster.Refusal) {
	x := t.troubled()
	switch {
	case d.template != nil && refusal.Code == cluster.NotAllowed:
		r.templates.bar(now, t.batch.bar, d.Node, refusal.Message)
	case d.template != nil && refusal.Code == cluster.UnknownTemplate && d.template.known.Has(d.Node):
		r.tryNext(now, t, refusal, true)
		return
	default:
		t.spec.Tried = &cluster.Tried{Node: int32(d.Node), Earlier: t.spec.Tried}
		if !refusal.Code.Passing() {
			x.refusals++
		}
	}
	r.tryNext(now, t, refusal, refusal.Code.Passing())
}

// tryNext places a refused task on another candidate, or fails it with the worker's reason, unless that passes.
func (r *Replica) tryNext(now time.Duration, t *task, refusal *cluster.Refusal, passing bool) {
	x := t.trouble
	x.reason = "worker " + r.workers.name(t.worker) + " refused it: " + refusal.Error()
	t.spec.Attempt++
	t.phase, t.node = cluster.Placing, NoNode
	r.journal.changed(t)
	switch {
	case t.cancel:
		r.end(now, t, t.cancelled())
	case x.refusals >= r.cfg.MaxAttempts:
		r.end(now, t, failed(x.reason))
	case r.decide(now, t):
		r.stats.Retries++
	case passing:
		r.wait(now, t)
	case refusal.Code == cluster.NotAllowed && !r.hopeless(t):
		r.wait(now, t)
	default:
		r.end(now, t, failed(x.reason))
	}
}

// replace places a task again whose machine was lost; without a feasible node it waits for one.
//
// A machine that never got it is no loss: when many die at once, a scheduler learns of each as it tries it,
// and every one of them leaves the candidates.
func (r *Replica) replace(now time.Duration, t *task, reason string, arrived bool) {
	x := t.troubled()
	t.spec.Attempt++
	t.phase, t.node, x.reason = cluster.Placing, NoNode, reason
	r.journal.changed(t)
	if arrived {
		x.losses++
	}
	switch {
	case t.cancel:
		r.end(now, t, t.cancelled())
	case x.losses >= r.crashLimit(t):
		r.end(now, t, lost(reason+" (the last of "+strconv.Itoa(x.losses)+" losses)"))
	default:
		if arrived {
			r.ranBefore(t)
		}
		r.placeAgain(now, t)
	}
}

// placeAgain finds a node for a task that had one, now or later.
func (r *Replica) placeAgain(now time.Duration, t *task) {
	if r.decide(now, t) {
		r.stats.Retries++
	} else {
		r.wait(now, t)
	}
}

// ranBefore tells the task's job of an execution beyond the first.
func (r *Replica) ranBefore(t *task) {
	if j := t.batch.job; j != nil {
		j.retried++
		r.journal.job(j)
	}
}

// crashLimit is how many machines a task may lose.
func (r *Replica) crashLimit(t *task) int {
	if j := t.batch.job; j != nil && j.CrashLimit > 0 {
		return j.CrashLimit
	}
	return r.cfg.MaxAttempts
}

// wait keeps a task that no node can take now. Nodes that refused it for the moment may take it later.
func (r *Replica) wait(now time.Duration, t *task) {
	if x := t.troubled(); x.waiting == 0 {
		x.waiting = max(now, began)
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
		case now-t.trouble.waiting >= r.cfg.ReplaceTimeout:
			r.end(now, t, lost(t.trouble.reason+", and no node took it for "+r.cfg.ReplaceTimeout.String()))
		case r.decide(now, t):
			r.stats.Retries++
		case r.hopeless(t):
			r.end(now, t, failed("no worker allows it: "+t.batch.bar.why))
		default:
			r.unplaced = append(r.unplaced, t)
		}
	}
}
