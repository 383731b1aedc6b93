package scheduler

import (
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
)

// ectScore estimates when a task would end on a node: its expected completion time, in milliseconds from
// now. It joins resource fit and queued duration in one unit, where the paper's score adds a share of load
// to a share of time.
type ectScore struct {
	fromLDN bool // estimate W from L, D and N alone
}

// emptier is the slight preference among nodes on which the task starts at once: a full one costs 5 % of
// the task's duration.
const emptier = 0.05

// of returns ECT_i = d̂ if the task fits now and a slot is free, else wait_i + d̂ with
//
//	wait_i = max(W/C_cores, D/slots, L_k/C_k · D/N for every other dimension k),
//
// the time that the pending work needs on the node's tightest resource.
func (s ectScore) of(v *View, t *cluster.Task, i int) float64 {
	n := v.Node(i)
	demand, _ := t.DemandOn(n.Class)
	duration := float64(t.DurationOn(n.Class))
	used, fits := dominantShare(n, demand)
	if fits && n.Load.Tasks < int64(n.Slots) {
		return duration * (1 + emptier*used)
	}
	return duration + s.wait(n)
}

// wait is the time until the pending work is done, in milliseconds.
func (s ectScore) wait(n *NodeView) float64 {
	if n.Load.Tasks <= 0 {
		return 0
	}
	mean := float64(n.Load.Duration) / float64(n.Load.Tasks)
	longest := float64(n.Load.Duration) / float64(max(n.Slots, 1))
	if cores := n.Capacity[cluster.Cores]; cores > 0 {
		work := float64(n.Load.Work)
		if s.fromLDN {
			work = float64(n.Load.Demand[cluster.Cores]) * mean
		}
		longest = max(longest, work/float64(cores))
	}
	for k := cluster.Cores + 1; k < cluster.MaxDimensions; k++ {
		if n.Capacity[k] > 0 {
			longest = max(longest, float64(n.Load.Demand[k])/float64(n.Capacity[k])*mean)
		}
	}
	return longest
}

// dominantShare is the largest share of a dimension that would be in use with the demand added, and
// whether the demand fits in every dimension.
func dominantShare(n *NodeView, demand *cluster.Resources) (share float64, fits bool) {
	fits = true
	for k := range demand {
		capacity := n.Capacity[k]
		with := n.Load.Demand[k] + demand[k]
		if with > capacity && demand[k] > 0 {
			fits = false
		}
		if capacity > 0 {
			share = max(share, float64(with)/float64(capacity))
		}
	}
	return share, fits
}

// nearTie is how close two expected completion times are taken for equal.
const nearTie = 0.01

// champion is the best node so far. Near-ties are settled at random, so that schedulers with the same view
// do not all choose the same node.
type champion struct {
	node int
	ect  float64
	ties int
}

func (c *champion) consider(i int, ect float64, random bool, draws *rand.Rand) {
	switch {
	case c.node == NoNode || ect < c.ect && !(random && ect >= c.ect*(1-nearTie)):
		*c = champion{i, ect, 1}
	case random && ect <= c.ect*(1+nearTie):
		c.ties++
		if draws.IntN(c.ties) == 0 {
			c.node, c.ect = i, min(c.ect, ect)
		}
	}
}

// ECT compares the expected completion time on d nodes drawn from the cache in proportion to capacity.
type ECT struct {
	samples int
	score   ectScore
	place   [1]Placement
}

// ECTPolicy is the score of dodoor+ without its homes.
var ECTPolicy = Spec{
	Name:  "ect",
	Knobs: func() Knobs { return &ectKnobs{Samples: 5} },
	New:   func(k Knobs) Policy { return &ECT{samples: k.(*ectKnobs).Samples} },

	Manual: ManualRow{Compares: "d from the cache", By: "expected completion time", Messages: "1 + 1/b_Δ + S/b"},
}

type ectKnobs struct {
	Samples int // d
}

func (k *ectKnobs) Table() Table {
	return Table{Name: "ect", Knobs: []Knob{
		{Key: "samples", Value: &k.Samples, Range: Range{Low: 1, High: 1000}, Unit: "nodes", Means: "d: nodes that the policy `ect` compares."},
	}}
}

// Submit places t at once.
func (e *ECT) Submit(_ time.Duration, t *cluster.Task, v *View) Decision {
	draws := v.Draws(t)
	best := champion{node: NoNode}
	for range e.samples {
		if i, ok := v.DrawWeighted(t, draws); ok {
			best.consider(i, e.score.of(v, t, i), true, draws)
		}
	}
	return placeOn(&e.place, t, v, draws, best.node)
}

// placeOn places t on node, or on any feasible one when there is none.
func placeOn(place *[1]Placement, t *cluster.Task, v *View, draws *rand.Rand, node int) Decision {
	if node == NoNode {
		var ok bool
		if node, ok = v.Draw(t, draws, NoNode); !ok {
			return Decision{}
		}
	}
	place[0] = Placement{Task: t, Node: node}
	return Decision{Place: place[:]}
}

// Wants own placements counted, and nodes by capacity.
func (e *ECT) Wants() Wants {
	return Wants{Loads: Corrected, Weights: true}
}
