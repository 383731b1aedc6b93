package baselines

import (
	"fmt"
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

func newOnePlusBeta(k Knobs) (scheduler.Policy, error) {
	if !(k.Beta >= 0 && k.Beta <= 1) {
		return nil, fmt.Errorf("beta = %v: must be between 0 and 1", k.Beta)
	}
	return &onePlusBeta{beta: k.Beta}, nil
}

func (p *onePlusBeta) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Step{}
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

func (p *onePlusBeta) Probed(time.Duration, scheduler.Probe, *scheduler.View) scheduler.Step {
	return scheduler.Step{}
}

func (p *onePlusBeta) Cached() bool { return true }
