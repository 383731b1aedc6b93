package worker

import (
	"slices"

	"dodoor/internal/cluster"
)

// Claim tells a scheduler that restarted what became of placements by earlier processes of it, one answer for each. Nothing of
// those can arrive any more, for the new process is attached. It fails like Enqueue.
func (n *Node) Claim(q *cluster.ClaimRequest) ([]cluster.Holding, error) {
	if q.NodeIncarnation != n.cfg.Node.Incarnation {
		return nil, cluster.Errorf(cluster.Stale, "claims are for incarnation %d of node %s; this is %d", q.NodeIncarnation, n.cfg.Node.Name,
			n.cfg.Node.Incarnation)
	}
	s, err := n.attached(&q.Scheduler)
	if err != nil {
		return nil, err
	}
	waits := make(map[cluster.Claim]bool, len(q.Claims)) // the id of what has ended may name a later execution by now
	for _, c := range q.Claims {
		waits[c] = false
	}
	for i := range s.outbox.waiting.len() { // it may be far longer than the question
		e := s.outbox.waiting.at(i)
		c := cluster.Claim{TaskID: e.t.id, Number: e.number}
		if _, asked := waits[c]; asked {
			waits[c] = true
		}
	}
	holdings := make([]cluster.Holding, len(q.Claims))
	for i, c := range q.Claims {
		t := n.held.byID[c.TaskID]
		switch {
		case waits[c], t != nil && slices.Contains(t.owners, owner{s, c.Number}):
			holdings[i] = cluster.Held
		case c.Number > s.former:
			holdings[i] = cluster.Never
		default:
			holdings[i] = cluster.Gone
		}
	}
	return holdings, nil
}
