package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// random places every task on one node drawn uniformly from the feasible ones: the baseline that
// knows nothing (paper, Sec. 6.1).
type random struct {
	placing
}

var _ = register(scheduler.Spec{
	Name:   "random",
	New:    func(scheduler.Knobs) scheduler.Policy { return &random{} },
	Manual: scheduler.ManualRow{Compares: "1", By: "–", Messages: "1"},
})

func (r *random) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	node, ok := v.Draw(t, v.Draws(t), scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	return r.on(t, node)
}

func (r *random) Wants() scheduler.Wants { return scheduler.Wants{} }
