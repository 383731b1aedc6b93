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

func newRandom(Knobs) (scheduler.Policy, error) { return &random{}, nil }

func (r *random) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	node, ok := v.Draw(t, v.Draws(t), scheduler.NoNode)
	if !ok {
		return scheduler.Step{}
	}
	return r.on(t, node)
}

func (r *random) Probed(time.Duration, scheduler.Probe, *scheduler.View) scheduler.Step {
	return scheduler.Step{}
}

func (r *random) Cached() bool { return false }
