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

var _ = register(scheduler.Spec{
	Name:   "cached-pot",
	New:    func(scheduler.Knobs) scheduler.Policy { return &cachedPoT{} },
	Manual: scheduler.ManualRow{Compares: "2 from the cache", By: "number of tasks", Messages: "1 + 1/b_Δ + S/b"},
})

func (p *cachedPoT) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	second, ok := v.Draw(t, draws, first)
	if !ok {
		return p.on(t, first)
	}
	return p.on(t, fewerTasks(v, first, second))
}

func (p *cachedPoT) Wants() scheduler.Wants { return scheduler.Wants{Loads: scheduler.Snapshots} }
