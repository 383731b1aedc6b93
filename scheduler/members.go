package scheduler

import (
	"sort"
	"time"

	"dodoor/internal/cluster"
)

// Attached takes a worker's answer to the handshake. When another process answers than the one the
// stream belongs to, what the old one held is placed again and a new stream starts. Placements that
// were given up while the worker was out of reach are closed by a dispatch without a task: they count
// as received and ended.
func (r *Replica) Attached(now time.Duration, index int, name string, a *cluster.AttachReply) *Ready {
	r.begin()
	if index >= len(r.nodes.slots) || !r.nodes.slots[index].present || r.nodes.slots[index].Name != name {
		return &r.ready
	}
	n := &r.nodes.slots[index]
	if a.Incarnation != n.Incarnation {
		next := n.Node
		next.Incarnation, next.Draining = a.Incarnation, a.Report.Draining
		r.restartNode(now, index, next)
		r.retryStranded(now)
		return &r.ready
	}
	r.resume(index, a)
	if n.givenUp > a.Number {
		r.ready.Send = append(r.ready.Send, Dispatch{Node: index, NodeIncarnation: n.Incarnation,
			Assignment: cluster.Assignment{Number: n.stream.number}, Placed: n.stream.placed})
	}
	n.givenUp = 0
	r.ride(index, &a.Report)
	if n.suspect {
		n.suspect = false
		r.refreshCandidates()
	}
	r.retryStranded(now)
	return &r.ready
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
func (r *Replica) NodeDown(now time.Duration, index int, incarnation, attempted int64) *Ready {
	r.begin()
	if n, ok := r.nodes.at(index, incarnation); ok {
		n.suspect, n.givenUp = true, n.stream.number
		r.refreshCandidates()
		r.replaceAll(now, index, attempted, "worker "+n.Name+" cannot be reached")
	}
	return &r.ready
}

// restartNode moves a name to a newer process: an empty worker with a new stream.
func (r *Replica) restartNode(now time.Duration, index int, n cluster.Node) {
	name := n.Name
	r.nodes.slots[index] = node{Node: n, present: true, listed: r.nodes.slots[index].listed}
	home := r.view.nodes[index].Home
	r.view.set(index, name, r.catalog.Class(n.Class), n.Capacity, n.Slots)
	r.view.nodes[index].Home = home
	r.refreshCandidates()
	r.ready.Connect = append(r.ready.Connect, index)
	r.replaceAll(now, index, allAttempted, "worker "+name+" restarted")
}

// removeNode forgets a worker that left the roster.
func (r *Replica) removeNode(now time.Duration, index int) {
	name := r.nodes.slots[index].Name
	r.nodes.remove(now, index)
	r.view.set(index, "", 0, cluster.Resources{}, 0)
	r.refreshCandidates()
	r.ready.Drop = append(r.ready.Drop, index)
	r.replaceAll(now, index, allAttempted, "worker "+name+" left the cluster")
}

// allAttempted says that any placement may have reached the worker.
const allAttempted = int64(1<<63 - 1)

// replaceAll places what a lost worker process held on other nodes, in stream order. A task that must
// not run twice, and may have started, ends as lost.
func (r *Replica) replaceAll(now time.Duration, index int, attempted int64, reason string) {
	var held []*task
	for _, t := range r.tasks {
		if t.node == index && (t.phase == cluster.Sent || t.phase == cluster.Accepted) {
			held = append(held, t)
		}
	}
	sort.Slice(held, func(i, j int) bool {
		if held[i].number != held[j].number {
			return held[i].number < held[j].number
		}
		return held[i].spec.ID < held[j].spec.ID
	})
	for _, t := range held {
		if t.spec.AtMostOnce && t.number <= attempted {
			r.end(now, t, lost(reason+"; the task must not run twice"))
			continue
		}
		r.replace(now, t, reason, t.number <= attempted)
	}
}
