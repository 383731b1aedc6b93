package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

var _ = register(scheduler.Spec{
	Name:  "yarp",
	Knobs: func() scheduler.Knobs { return &yarpKnobs{Period: 500 * time.Millisecond} },
	New:   func(k scheduler.Knobs) scheduler.Policy { return &yarp{period: k.(*yarpKnobs).Period} },

	Manual: scheduler.ManualRow{Compares: "2, from a periodic poll", By: "number of tasks", Messages: "1 + S·n/(period × tasks per second)"},
})

type yarpKnobs struct {
	Period time.Duration // between two polls of all workers
}

func (k *yarpKnobs) Table() scheduler.Table {
	return scheduler.Table{Name: "yarp", Knobs: []scheduler.Knob{
		{Key: "period", Value: &k.Period, Means: "Between two polls of all workers; costs n messages each."},
	}}
}

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

// Tick polls when a multiple of the period has passed, however irregular the ticks.
func (y *yarp) Tick(now time.Duration, v *scheduler.View) scheduler.Decision {
	if now < y.next || len(v.Candidates()) == 0 {
		return scheduler.Decision{}
	}
	y.next = now.Truncate(y.period) + y.period
	y.calls = y.calls[:0]
	for _, i := range v.Candidates() {
		y.calls = append(y.calls, scheduler.ProbeCall{Node: int(i)})
	}
	return scheduler.Decision{Probe: y.calls}
}

func (y *yarp) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	second, ok := v.Draw(t, draws, first)
	if !ok || y.tasks(v, second) >= y.tasks(v, first) {
		return y.on(t, first)
	}
	return y.on(t, second)
}

// Probed notes an answer. A poll that failed leaves the last one standing.
func (y *yarp) Probed(_ time.Duration, p scheduler.Probe, v *scheduler.View) scheduler.Decision {
	if p.Failed {
		return scheduler.Decision{}
	}
	for len(y.heard) <= p.Node {
		y.heard = append(y.heard, answer{})
	}
	y.heard[p.Node] = answer{name: v.Node(p.Node).Name, tasks: p.Answer.Tasks}
	return scheduler.Decision{}
}

func (y *yarp) Wants() scheduler.Wants { return scheduler.Wants{} }

// tasks is N of node i as last heard.
func (y *yarp) tasks(v *scheduler.View, i int) int64 {
	if i < len(y.heard) && y.heard[i].name == v.Node(i).Name {
		return y.heard[i].tasks
	}
	return 0
}
