package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// widest draws a few feasible nodes and takes the one with the most cores.
type widest struct {
	placing
	nodes int
}

var _ = register(scheduler.Spec{
	Name:  "widest",
	Knobs: func() scheduler.Knobs { return &widestKnobs{Nodes: 2} },
	New:   func(k scheduler.Knobs) scheduler.Policy { return &widest{nodes: k.(*widestKnobs).Nodes} },

	Manual: scheduler.ManualRow{Compares: "a few", By: "capacity", Messages: "1"},
})

type widestKnobs struct{ Nodes int }

func (k *widestKnobs) Table() scheduler.Table {
	return scheduler.Table{Name: "widest", Knobs: []scheduler.Knob{
		{Key: "nodes", Value: &k.Nodes, Range: scheduler.Range{Low: 1, High: 100}, Unit: "nodes", Means: "Nodes compared."},
	}}
}

func (w *widest) Wants() scheduler.Wants { return scheduler.Wants{} }

func (w *widest) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	best, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	for range w.nodes - 1 {
		if i, ok := v.Draw(t, draws, best); ok && v.Node(i).Capacity[cluster.Cores] > v.Node(best).Capacity[cluster.Cores] {
			best = i
		}
	}
	return w.on(t, best)
}
