package scheduler

import (
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
)

// PaperPolicy is the policy of the paper.
var PaperPolicy = Spec{
	Name:  "dodoor",
	Knobs: func() Knobs { return DefaultScore() },
	New:   func(k Knobs) Policy { return NewDodoor(k.(*ScoreKnobs)) },

	Manual: ManualRow{Compares: "2 from the cache", By: "resource fit and queued duration", Messages: "1 + 1/b_Δ + S/b"},
}

// ScoreKnobs concern one decision of Algorithm 1; b and b_Δ live with the data service and the replica.
type ScoreKnobs struct {
	Alpha    float64 // weight of queued duration against resource fit (Eq. 2)
	Kind     string  // the reading of Eq. 1, a ScoreKind
	Beta     float64 // probability of comparing two candidates; below 1 this is the (1+β) process
	Weighted bool    // draw candidates in proportion to capacity, not uniformly as printed
}

// DefaultScore is the paper's: no bias, two choices.
func DefaultScore() *ScoreKnobs { return &ScoreKnobs{Alpha: 0.5, Kind: PerDimension.String(), Beta: 1} }

// Table describes the knobs.
func (k *ScoreKnobs) Table() Table {
	return Table{Name: "score", Knobs: []Knob{
		{Key: "alpha", Value: &k.Alpha, Range: Range{High: 1}, Means: "α of Eq. 2: " +
			"score = (1−α)·rl_a/(rl_a+rl_c) + α·D̃_a/(D̃_a+D̃_c), lower wins. " +
			"0: resource fit alone. 1: queued duration alone. The paper finds the worst tails at 1 (Sec. 6.4); " +
			"without its prototype's fault they are the best ([reproduction.md](reproduction.md#alpha))."},
		{Key: "kind", Value: &k.Kind, Range: Range{Words: scoreKinds[:]}, Means: "The reading of Eq. 1. " +
			"`per-dimension`: mean over dimensions of r_k·L_k/C_k², as in the authors' code. `norm`: r·L/‖C‖² after dividing " +
			"every dimension by the cluster's largest capacity in it. `raw`: r·L/‖C‖² as printed, in cores and megabytes, " +
			"where memory decides alone."},
		{Key: "beta", Value: &k.Beta, Range: Range{High: 1}, Means: "Probability of comparing two candidates; " +
			"with 1−β the first one drawn is taken, as in the (1+β) process."},
		{Key: "weighted", Value: &k.Weighted, Means: "Candidates are drawn in proportion to their capacity in the task's dominant resource, " +
			"instead of uniformly as in Algorithm 1."},
	}}
}

// Dodoor is the paper's policy: two distinct feasible candidates drawn uniformly, the lower pair score
// wins, a tie goes to the first drawn (Algorithm 1, lines 1-3).
type Dodoor struct {
	knobs ScoreKnobs
	kind  ScoreKind
	place [1]Placement
}

// NewDodoor returns the policy with knobs within their ranges.
func NewDodoor(k *ScoreKnobs) *Dodoor {
	return &Dodoor{knobs: *k, kind: scoreKind(k.Kind)}
}

// Submit places t at once.
func (d *Dodoor) Submit(_ time.Duration, t *cluster.Task, v *View) Decision {
	draws := v.Draws(t)
	first, ok := d.draw(t, v, draws, NoNode)
	if !ok {
		return Decision{}
	}
	chosen := first
	if d.knobs.Beta >= 1 || draws.Float64() < d.knobs.Beta {
		if second, ok := d.draw(t, v, draws, first); ok {
			chosen = d.better(t, v, first, second)
		}
	}
	d.place[0] = Placement{Task: t, Node: chosen}
	return Decision{Place: d.place[:]}
}

// draw is line 1 of Algorithm 1 for one candidate, other than except.
func (d *Dodoor) draw(t *cluster.Task, v *View, draws *rand.Rand, except int) (int, bool) {
	if d.knobs.Weighted {
		for range rejections {
			if i, ok := v.DrawWeighted(t, draws); ok && i != except {
				return i, true
			}
		}
	}
	return v.Draw(t, draws, except)
}

// Wants snapshots alone.
func (d *Dodoor) Wants() Wants { return Wants{Loads: Snapshots, Weights: d.knobs.Weighted} }

// better is lines 2 and 3 of Algorithm 1: the first candidate unless the second scores lower.
func (d *Dodoor) better(t *cluster.Task, v *View, a, c int) int {
	demandA, _ := t.DemandOn(v.nodes[a].Class)
	demandC, _ := t.DemandOn(v.nodes[c].Class)
	rlA := v.resourceLoad(a, demandA, d.kind)
	rlC := v.resourceLoad(c, demandC, d.kind)
	dA := float64(v.nodes[a].Load.Duration + t.DurationOn(v.nodes[a].Class))
	dC := float64(v.nodes[c].Load.Duration + t.DurationOn(v.nodes[c].Class))
	if pairScore(d.knobs.Alpha, rlA, rlC, dA, dC) <= pairScore(d.knobs.Alpha, rlC, rlA, dC, dA) {
		return a
	}
	return c
}
