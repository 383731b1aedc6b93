package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Report returns the node's state: the exact load of its uncompleted tasks, with more for those that run
// longer than estimated, and what it received from each scheduler. Every report has the next sequence
// number, so receivers keep the newest whichever way and in whatever order reports reach them.
func (n *Node) Report(now time.Duration) (r cluster.Report) {
	n.FillReport(now, &r)
	return r
}

// FillReport is Report into one that is not in use any more: its vectors keep their memory.
func (n *Node) FillReport(now time.Duration, r *cluster.Report) {
	received := slices.Grow(r.Received[:0], len(n.streams))
	for _, s := range n.streams {
		received = append(received, s.vector())
	}
	*r = n.report(now, received)
}

// reportTo is a report for one scheduler. It needs to know of no other scheduler's placements, and
// the report should not cost more the more schedulers there are.
func (n *Node) reportTo(now time.Duration, s *stream) *cluster.Report {
	r := n.report(now, []cluster.Received{s.vector()})
	return &r
}

// rider is a report on a message that is sent anyway, for a scheduler that asked for those: its view is
// fresher than snapshots. It is made in spare, an earlier one that is not in use any more, unless that is nil.
func (n *Node) rider(now time.Duration, s *stream, spare *cluster.Report) *cluster.Report {
	switch {
	case !s.ref.Riders:
		return nil
	case spare == nil:
		return n.reportTo(now, s)
	}
	*spare = n.report(now, append(spare.Received[:0], s.vector()))
	return spare
}

func (s *stream) vector() cluster.Received {
	return cluster.Received{Scheduler: s.ref.Name, Incarnation: s.ref.Incarnation, Number: s.number, Received: s.received}
}

func (n *Node) report(now time.Duration, received []cluster.Received) cluster.Report {
	n.sequence++
	return cluster.Report{
		Node: n.cfg.Node.Name, Incarnation: n.cfg.Node.Incarnation, Sequence: n.sequence,
		Load: n.load.Add(n.overruns.extra(now)), RunningDemand: n.ledger.reserved, Running: n.ledger.running, Queued: n.queue.len(),
		Draining: n.draining, Received: received, Blocked: n.queue.blockedUntil(now),
	}
}
