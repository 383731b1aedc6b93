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

var _ = register(scheduler.Spec{
	Name:   "least-loaded",
	New:    func(scheduler.Knobs) scheduler.Policy { return &leastLoaded{} },
	Manual: scheduler.ManualRow{Compares: "all, cached", By: "number of tasks", Messages: "1 + 1/b_Δ + S/b"},
})

func (p *leastLoaded) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
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
		return scheduler.Decision{}
	}
	return p.on(t, best)
}

func (p *leastLoaded) Wants() scheduler.Wants { return scheduler.Wants{Loads: scheduler.Snapshots} }
