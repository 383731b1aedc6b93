package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// A worker that is missing from the roster has left, has died, or is out of the data service's reach only. Whoever can
// ask it knows: it stays as long as it answers the handshake, and takes placements if it is not draining.

// askEvery is how often a worker that the roster lacks is asked.
const askEvery = time.Second

// missUnlisted looks for workers that the newest roster does not have. It forgets those that this replica cannot reach
// either, and those that were about to leave and hold nothing from here. The others are asked, and are no candidates
// until they have answered: perhaps nobody is there any more.
func (r *Replica) missUnlisted(now time.Duration) []loss {
	r.grace = 0
	var losses []loss
	for index := range r.nodes.slots {
		n := &r.nodes.slots[index]
		switch {
		case !n.present || n.listed || n.missed:
		case n.down || n.Draining && len(r.heldBy(index)) == 0:
			losses = append(losses, r.removeNode(now, index, left))
		default:
			n.missed, n.suspect = true, true
			r.nodes.missed++
			r.ask(now, index)
		}
	}
	return losses
}

// left is what becomes of a worker without a reason of its own.
const left = "left the cluster"

// ask has a worker's stream shake hands.
func (r *Replica) ask(now time.Duration, index int) {
	r.nodes.slots[index].asked = now
	r.actions.Ask = append(r.actions.Ask, index)
}

// askMissed asks the missed workers again whose turn it is.
func (r *Replica) askMissed(now time.Duration) {
	for index := 0; index < len(r.nodes.slots) && r.nodes.missed > 0; index++ {
		if n := &r.nodes.slots[index]; n.missed && now-n.asked >= askEvery {
			r.ask(now, index)
		}
	}
}

// answered takes a missed worker's answer to the handshake, and reports whether it stays. Nobody else says what it
// holds, so its own word is the view of it.
func (r *Replica) answered(now time.Duration, index int, a *cluster.AttachReply) (stays bool) {
	n := &r.nodes.slots[index]
	why := left
	switch {
	case a.Incarnation != n.Incarnation:
		why = "restarted"
	case !a.Report.Draining || len(r.heldBy(index)) > 0:
		if n.Draining != a.Report.Draining {
			n.Draining = a.Report.Draining
			r.refreshCandidates()
		}
		load := a.Report.Load
		for i := range a.Report.Received {
			if own := &a.Report.Received[i]; own.Scheduler == r.cfg.Name && own.Incarnation == r.cfg.Incarnation {
				load = load.Add(n.stream.placed).Sub(own.Received)
			}
		}
		r.settle(index, load)
		return true
	}
	r.replaceLost(now, []loss{r.removeNode(now, index, why)})
	return false
}
