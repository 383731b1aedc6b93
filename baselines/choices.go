package baselines

import (
	"slices"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// placing holds the one placement of a decision, so that placing a task allocates nothing.
type placing struct {
	place [1]scheduler.Placement
}

// on is the decision that places t on node.
func (p *placing) on(t *cluster.Task, node int) scheduler.Decision {
	p.place[0] = scheduler.Placement{Task: t, Node: node}
	return scheduler.Decision{Place: p.place[:]}
}

// fewerTasks returns the node with fewer uncompleted tasks (N) in the cached view; a tie goes to the
// first drawn.
func fewerTasks(v *scheduler.View, first, second int) int {
	if v.Node(second).Load.Tasks < v.Node(first).Load.Tasks {
		return second
	}
	return first
}

// remains reports whether node i still takes placements and is still the worker called name: indices
// of departed workers are used again.
func remains(v *scheduler.View, i int, name string) bool {
	_, candidate := slices.BinarySearch(v.Candidates(), int32(i))
	return candidate && v.Node(i).Name == name
}
