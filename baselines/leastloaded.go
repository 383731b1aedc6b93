package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// leastLoaded compares every feasible node in the cached view and takes the one with the fewest
// uncompleted tasks, the first in index order on a tie. It exists to show herding: until the view
// changes, every scheduler sends every task to the same node (paper, Sec. 6.1).
type leastLoaded struct {
	placing
}

func newLeastLoaded(Knobs) (scheduler.Policy, error) { return &leastLoaded{}, nil }

func (p *leastLoaded) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	best := scheduler.NoNode
	for _, i := range v.Candidates() {
		node := int(i)
		if best != scheduler.NoNode && v.Node(node).Load.Tasks >= v.Node(best).Load.Tasks {
			continue
		}
		if v.Feasible(node, t) {
			best = node
		}
	}
	if best == scheduler.NoNode {
		return scheduler.Step{}
	}
	return p.on(t, best)
}

func (p *leastLoaded) Probed(time.Duration, scheduler.Probe, *scheduler.View) scheduler.Step {
	return scheduler.Step{}
}

func (p *leastLoaded) Cached() bool { return true }
