package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// onePlusBeta is the (1+β) process on the cached view: with probability β two choices as in
// cached-pot, else the first node drawn, unseen. With old views less choice means less herding.
type onePlusBeta struct {
	placing
	beta float64
}

var _ = register(scheduler.Spec{
	Name:  "oneplusbeta",
	Knobs: func() scheduler.Knobs { return scheduler.DefaultScore() },
	New:   func(k scheduler.Knobs) scheduler.Policy { return &onePlusBeta{beta: k.(*scheduler.ScoreKnobs).Beta} },

	Manual: scheduler.ManualRow{Compares: "2 or 1 from the cache", By: "number of tasks", Messages: "1 + 1/b_Δ + S/b"},
})

func (p *onePlusBeta) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	if draws.Float64() >= p.beta {
		return p.on(t, first)
	}
	second, ok := v.Draw(t, draws, first)
	if !ok {
		return p.on(t, first)
	}
	return p.on(t, fewerTasks(v, first, second))
}

func (p *onePlusBeta) Wants() scheduler.Wants { return scheduler.Wants{Loads: scheduler.Snapshots} }
