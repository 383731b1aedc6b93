package scheduler

import (
	"cmp"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// A completion notice can be lost for good: a worker drops results that its scheduler did not take for
// long. An audit finds the tasks that this concerns, so that none of them stays unfinished for ever.

// Overdue returns the nodes that hold a task, as far as this replica knows, without news for longer than
// age.
func (r *Replica) Overdue(now, age time.Duration) []int {
	var nodes []int
	var seen cluster.NodeSet
	for _, t := range r.tasks {
		if t.phase == cluster.Accepted && now-t.accepted > age && !seen.Has(int(t.node)) {
			seen.Add(int(t.node))
			nodes = append(nodes, int(t.node))
		}
	}
	slices.Sort(nodes)
	return nodes
}

// Audited takes a worker's list of what it holds. Tasks that it had acknowledged before asOf, when it was
// asked, and does not hold any more, are placed again, or end as lost when they must not run twice.
func (r *Replica) Audited(now time.Duration, index int, incarnation int64, asOf time.Duration, holds func(id string) bool) *Actions {
	r.begin()
	n, ok := r.nodes.at(index, incarnation)
	if !ok {
		return &r.actions
	}
	var missing []*task
	for _, t := range r.tasks {
		if t.phase == cluster.Accepted && int(t.node) == index && t.accepted < asOf && !holds(t.spec.ID) {
			missing = append(missing, t)
		}
	}
	slices.SortFunc(missing, func(a, b *task) int { return cmp.Compare(a.number, b.number) })
	reason := "worker " + n.Name + " no longer knows how it ended"
	for _, t := range missing {
		r.endedThere(t)
		if t.spec.AtMostOnce {
			r.end(now, t, lost(reason+"; the task must not run twice"))
			continue
		}
		r.replace(now, t, reason, true)
	}
	r.cancelAgain(index) // of those that it holds: perhaps it never heard
	return &r.actions
}
