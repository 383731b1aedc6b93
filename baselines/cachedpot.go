package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// cachedPoT is the power of two choices on the cached view: of two distinct feasible nodes the one
// with fewer uncompleted tasks. It is what remains of Dodoor without its score.
type cachedPoT struct {
	placing
}

func newCachedPoT(Knobs) (scheduler.Policy, error) { return &cachedPoT{}, nil }

func (p *cachedPoT) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Step{}
	}
	second, ok := v.Draw(t, draws, first)
	if !ok {
		return p.on(t, first)
	}
	return p.on(t, fewerTasks(v, first, second))
}

func (p *cachedPoT) Probed(time.Duration, scheduler.Probe, *scheduler.View) scheduler.Step {
	return scheduler.Step{}
}

func (p *cachedPoT) Cached() bool { return true }
