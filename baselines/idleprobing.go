package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// idleProber is prequal that probes also while no task comes, so that its pool is not empty when one does.
// It starts with the first task: before it, all schedulers would draw the same nodes.
type idleProber struct {
	*prequal
	after time.Duration // how long without probes
	asked time.Duration // when a task or a round sent the last ones
	last  cluster.Task  // its seed is the last task's, its attempts are the rounds since: what the rounds draw by
	began bool
}

func (p *idleProber) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	decision := p.prequal.Submit(now, t, v)
	if len(decision.Place) > 0 {
		p.asked, p.last, p.began = now, cluster.Task{Seed: t.Seed}, true
	}
	return decision
}

// Tick sends a round of r_probe probes when the idle time has passed, however irregular the ticks.
func (p *idleProber) Tick(now time.Duration, v *scheduler.View) scheduler.Decision {
	if !p.began || now-p.asked < p.after {
		return scheduler.Decision{}
	}
	p.asked = now
	p.last.Attempt++
	return scheduler.Decision{Probe: p.ask(nil, v, v.Draws(&p.last))}
}

// Probed takes the answers to a round like those to a task's probes.
func (p *idleProber) Probed(now time.Duration, probe scheduler.Probe, v *scheduler.View) scheduler.Decision {
	if probe.Task == nil {
		probe.Task = &p.last
	}
	return p.prequal.Probed(now, probe, v)
}
