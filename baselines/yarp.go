package baselines

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// YarpKnobs configure the policy yarp.
type YarpKnobs struct {
	Period time.Duration // between two polls of all workers
}

// DefaultYarpKnobs is half a second between polls.
func DefaultYarpKnobs() YarpKnobs { return YarpKnobs{Period: 500 * time.Millisecond} }

// yarp polls every worker periodically, as the YARP reverse proxy polls its backends (paper,
// Sec. 2.3), and between polls takes the better of two random nodes by the newest answers. A node
// that never answered counts as idle, so newcomers get tasks at once.
type yarp struct {
	placing
	period time.Duration
	next   time.Duration // when the next poll is due
	calls  []scheduler.ProbeCall
	heard  []answer // by node index
}

// answer is what the worker called name said last.
type answer struct {
	name  string
	tasks int64
}

func newYarp(k Knobs) (scheduler.Policy, error) {
	if k.Yarp.Period <= 0 {
		return nil, fmt.Errorf("period = %v: must be above 0", k.Yarp.Period)
	}
	return &yarp{period: k.Yarp.Period}, nil
}

// Tick polls when a multiple of the period has passed, however irregular the ticks.
func (y *yarp) Tick(now time.Duration, v *scheduler.View) scheduler.Step {
	if now < y.next || len(v.Candidates()) == 0 {
		return scheduler.Step{}
	}
	y.next = now.Truncate(y.period) + y.period
	y.calls = y.calls[:0]
	for _, i := range v.Candidates() {
		y.calls = append(y.calls, scheduler.ProbeCall{Node: int(i)})
	}
	return scheduler.Step{Probe: y.calls}
}

func (y *yarp) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Step{}
	}
	second, ok := v.Draw(t, draws, first)
	if !ok || y.tasks(v, second) >= y.tasks(v, first) {
		return y.on(t, first)
	}
	return y.on(t, second)
}

// Probed notes an answer. A poll that failed leaves the last one standing.
func (y *yarp) Probed(_ time.Duration, p scheduler.Probe, v *scheduler.View) scheduler.Step {
	if p.Failed {
		return scheduler.Step{}
	}
	for len(y.heard) <= p.Node {
		y.heard = append(y.heard, answer{})
	}
	y.heard[p.Node] = answer{name: v.Node(p.Node).Name, tasks: p.Answer.Tasks}
	return scheduler.Step{}
}

func (y *yarp) Cached() bool { return false }

// tasks is N of node i as last heard.
func (y *yarp) tasks(v *scheduler.View, i int) int64 {
	if i < len(y.heard) && y.heard[i].name == v.Node(i).Name {
		return y.heard[i].tasks
	}
	return 0
}
