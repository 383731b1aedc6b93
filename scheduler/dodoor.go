package scheduler

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// DodoorConfig holds the knobs of Algorithm 1 that concern one decision; b and b_Δ live with the data
// service and the replica.
type DodoorConfig struct {
	Alpha float64 // weight of queued duration against resource fit, in [0, 1] (Eq. 2)
	Beta  float64 // probability of comparing two candidates; below 1 this is the (1+β) process
	Score ScoreKind
}

// Dodoor is the paper's policy: two distinct feasible candidates drawn uniformly, the lower pair score
// wins, a tie goes to the first drawn (Algorithm 1, lines 1-3).
type Dodoor struct {
	cfg   DodoorConfig
	place [1]Placement
}

// NewDodoor checks the knobs.
func NewDodoor(cfg DodoorConfig) (*Dodoor, error) {
	if !(cfg.Alpha >= 0 && cfg.Alpha <= 1) {
		return nil, fmt.Errorf("alpha = %v: must be between 0 and 1", cfg.Alpha)
	}
	if !(cfg.Beta >= 0 && cfg.Beta <= 1) {
		return nil, fmt.Errorf("beta = %v: must be between 0 and 1", cfg.Beta)
	}
	return &Dodoor{cfg: cfg}, nil
}

// Submit places t at once.
func (d *Dodoor) Submit(_ time.Duration, t *cluster.Task, v *View) Step {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, NoNode)
	if !ok {
		return Step{}
	}
	chosen := first
	if d.cfg.Beta >= 1 || draws.Float64() < d.cfg.Beta {
		if second, ok := v.Draw(t, draws, first); ok {
			chosen = d.better(t, v, first, second)
		}
	}
	d.place[0] = Placement{Task: t, Node: chosen}
	return Step{Place: d.place[:]}
}

// Probed has nothing to learn: Dodoor never probes.
func (d *Dodoor) Probed(time.Duration, Probe, *View) Step { return Step{} }

// Cached reports that Dodoor decides from the cache alone.
func (d *Dodoor) Cached() bool { return true }

// better is lines 2 and 3 of Algorithm 1: the first candidate unless the second scores lower.
func (d *Dodoor) better(t *cluster.Task, v *View, a, c int) int {
	shapeA, _ := t.ShapeOn(v.nodes[a].Class)
	shapeC, _ := t.ShapeOn(v.nodes[c].Class)
	rlA := v.resourceLoad(a, &shapeA.Demand, d.cfg.Score)
	rlC := v.resourceLoad(c, &shapeC.Demand, d.cfg.Score)
	dA := float64(v.nodes[a].Load.Duration + shapeA.Duration)
	dC := float64(v.nodes[c].Load.Duration + shapeC.Duration)
	if pairScore(d.cfg.Alpha, rlA, rlC, dA, dC) <= pairScore(d.cfg.Alpha, rlC, rlA, dC, dA) {
		return a
	}
	return c
}
