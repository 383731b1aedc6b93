package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Attached takes a worker's answer to the handshake. When another process answers than the one the
// stream belongs to, what the old one held is placed again and a new stream starts. Placements that
// were given up while the worker was out of reach are closed by a dispatch without a task: they count
// as received and ended.
func (r *Replica) Attached(now time.Duration, index int, name string, a *cluster.AttachReply) *Actions {
	r.begin()
	if index >= len(r.nodes.slots) || r.nodes.slots[index].Name != name {
		return &r.actions
	}
	n := &r.nodes.slots[index]
	n.down = false
	if n.missed && !r.answered(now, index, a) {
		r.retryUnplaced(now)
		return &r.actions
	}
	if a.Incarnation != n.Incarnation {
		next := n.Node
		next.Incarnation, next.Draining = a.Incarnation, a.Report.Draining
		r.replaceLost(now, []loss{r.restartNode(index, next)})
		r.retryUnplaced(now)
		return &r.actions
	}
	r.resume(index, a)
	if n.givenUp > a.Number {
		r.actions.Send = append(r.actions.Send, Dispatch{Node: index, NodeIncarnation: n.Incarnation,
			Assignment: cluster.Assignment{Number: n.stream.number}, Placed: n.stream.placed, position: r.journal.position})
	}
	n.givenUp = 0
	r.ride(index, &a.Report)
	r.cancelAgain(index)
	if n.suspect {
		n.suspect = false
		r.refreshCandidates()
	}
	r.retryUnplaced(now)
	return &r.actions
}

// resume adopts the worker's account of the stream when it is ahead of this replica's, which was forgotten
// while the worker was away.
func (r *Replica) resume(index int, a *cluster.AttachReply) {
	s := &r.nodes.slots[index].stream
	if a.Number <= s.number {
		return
	}
	for i := range a.Report.Received {
		if own := &a.Report.Received[i]; own.Scheduler == r.cfg.Name && own.Incarnation == r.cfg.Incarnation {
			*s = stream{number: own.Number, placed: own.Received, dirty: s.dirty}
			r.touch(index)
		}
	}
}

// Suspect takes a worker out of the candidates at once: this replica failed to reach it.
func (r *Replica) Suspect(index int, incarnation int64) {
	if n, ok := r.nodes.at(index, incarnation); ok && !n.suspect {
		n.suspect = true
		r.refreshCandidates()
	}
}

// NodeDown gives up on a worker process that stayed out of reach: what it held is placed again.
// attempted is the highest placement number that may have reached it.
func (r *Replica) NodeDown(now time.Duration, index int, incarnation, attempted int64) *Actions {
	r.begin()
	if n, ok := r.nodes.at(index, incarnation); ok {
		n.suspect, n.down, n.givenUp, n.claims = true, true, n.stream.number, nil
		held, reason := r.heldBy(index), "worker "+n.Name+" cannot be reached"
		if n.missed {
			r.removeNode(now, index, left)
		}
		r.refreshCandidates()
		r.replaceAll(now, held, attempted, reason)
	}
	return &r.actions
}

// loss is a worker process that is gone with all it held.
type loss struct {
	index  int
	reason string
}

// replaceLost places again what lost workers held. All losses have to be known by then: a task must not go
// to a worker that is gone as well, nor onto the new stream of one that restarted as a placement of the old
// one. And one that goes to a restarted worker is no loss of its old process.
func (r *Replica) replaceLost(now time.Duration, losses []loss) {
	r.refreshCandidates()
	held := make([][]*task, len(losses))
	for i, l := range losses {
		held[i] = r.heldBy(l.index)
	}
	for i, l := range losses {
		r.replaceAll(now, held[i], allAttempted, l.reason)
	}
}

// restartNode moves a name to a newer process: an empty worker with a new stream.
func (r *Replica) restartNode(index int, n cluster.Node) loss {
	name := n.Name
	old := &r.nodes.slots[index]
	class := r.catalog.Class(n.Class)
	*old = node{Node: n, id: r.workers.id(name, class), present: true, listed: old.listed, missed: old.missed, rowsOf: old.rowsOf,
		stream: stream{number: r.nodes.base}}
	r.templates.forget(index)
	home := r.view.nodes[index].Home
	r.view.set(index, name, class, n.Capacity, n.Slots)
	r.view.nodes[index].Home = home
	if r.fresh.stale {
		r.setAdrift(func(i int) bool { return i == index })
	}
	r.actions.Connect = append(r.actions.Connect, index)
	return loss{index, "worker " + name + " restarted"}
}

// removeNode forgets a worker that is not in the roster.
func (r *Replica) removeNode(now time.Duration, index int, why string) loss {
	name := r.nodes.slots[index].Name
	r.nodes.remove(now, index)
	r.templates.forget(index)
	r.view.set(index, "", 0, cluster.Resources{}, 0)
	r.actions.Drop = append(r.actions.Drop, index)
	return loss{index, "worker " + name + " " + why}
}

// allAttempted says that any placement may have reached the worker.
const allAttempted = int64(1<<63 - 1)

// heldBy returns the tasks that are on a node, as far as this replica knows, in stream order.
func (r *Replica) heldBy(index int) (held []*task) {
	for _, t := range r.tasks {
		if int(t.node) == index && (t.phase == cluster.Sent || t.phase == cluster.Accepted) {
			held = append(held, t)
		}
	}
	slices.SortFunc(held, func(a, b *task) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.spec.ID, b.spec.ID))
	})
	return held
}

// replaceAll places what a lost worker process held on other nodes. A task that must not run twice, and may
// have started, ends as lost.
func (r *Replica) replaceAll(now time.Duration, held []*task, attempted int64, reason string) {
	for _, t := range held {
		r.endedThere(t)
		if t.spec.AtMostOnce && t.number <= attempted {
			r.end(now, t, lost(reason+"; the task must not run twice"))
			continue
		}
		r.replace(now, t, reason, t.number <= attempted)
	}
}
