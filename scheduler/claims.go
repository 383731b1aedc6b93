package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// A restored replica knows where its tasks were placed, and not what became of that. Its workers know: each is asked about its
// placements, page by page, before anything else is sent there, and until it has answered nothing of that is placed again.

// claimsMost is how many placements one question is about: it fits into a message, whatever they are called.
const claimsMost = 1024

// reconnect opens streams to the workers that have open placements of an earlier process.
func (r *Replica) reconnect() {
	if !r.restored {
		return
	}
	r.restored = false
	for i := range r.nodes.slots {
		if n := &r.nodes.slots[i]; n.unconnected {
			n.unconnected = false
			r.actions.Connect = append(r.actions.Connect, i)
		}
	}
}

// claims returns the next placements that a worker process is to be asked about.
func (r *Replica) claims(index int, incarnation int64) []cluster.Claim {
	n, same := r.nodes.at(index, incarnation)
	if !same {
		return nil
	}
	return n.claims[:min(len(n.claims), claimsMost)]
}

// claimed takes a worker's answer about the first placements that it was to be asked about. What it never got is placed again, and
// so is what it got and no longer knows, unless that must not run twice.
func (r *Replica) claimed(now time.Duration, index int, incarnation int64, holdings []cluster.Holding) *Actions {
	r.begin()
	n, same := r.nodes.at(index, incarnation)
	if !same {
		return &r.actions
	}
	answered := n.claims[:len(holdings)]
	if n.claims = n.claims[len(holdings):]; len(n.claims) == 0 {
		n.claims = nil
	}
	name := n.Name // placing again may move the table
	for i := range answered {
		if t := r.unresolved(index, &answered[i]); t != nil {
			r.resolved(now, t, holdings[i], name)
		}
	}
	return &r.actions
}

// unresolved returns the task of a placement that the worker is asked about; nil: it has ended meanwhile.
func (r *Replica) unresolved(index int, c *cluster.Claim) *task {
	t := r.tasks[c.TaskID]
	if t == nil || t.phase != cluster.Sent || int(t.node) != index || t.number != c.Number {
		return nil
	}
	return t
}

func (r *Replica) resolved(now time.Duration, t *task, holding cluster.Holding, worker string) {
	switch {
	case holding == cluster.Held:
		t.phase = cluster.Accepted // when that was nobody knows any more
		if t.cancel {
			r.tellCancelled(t)
		}
	case holding == cluster.Never:
		t.number = 0
		r.replace(now, t, "worker "+worker+" never got it", false)
	case t.spec.AtMostOnce:
		r.end(now, t, lost("worker "+worker+" no longer knows how it ended; the task must not run twice"))
	default:
		r.replace(now, t, "worker "+worker+" no longer knows how it ended", true)
	}
}
