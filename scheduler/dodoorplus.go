package scheduler

import (
	"math"
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
)

// PlusPolicy is the policy of this project.
var PlusPolicy = Spec{
	Name:  "dodoor+",
	Knobs: func() Knobs { return DefaultPlus() },
	New:   func(k Knobs) Policy { return newPlus(*k.(*PlusKnobs)) },

	Manual: ManualRow{Compares: "home nodes and a few others, cached", By: "expected completion time", Messages: "1 + 1/b_Δ + S/b"},
}

// PartitionPolicy uses the nodes at home here and no others. Under even load it is as good as a policy that knows
// everything; it collapses when the load is not even, and exists to show why the foreign nodes of dodoor+ are
// needed.
var PartitionPolicy = Spec{
	Name: "partition",
	New: func(Knobs) Policy {
		k := DefaultPlus()
		k.Foreign, k.Adaptive = 0, false
		return newPlus(*k)
	},
	Manual: ManualRow{Compares: "home nodes only, cached", By: "expected completion time", Messages: "1 + 1/b_Δ + S/b"},
}

// PlusKnobs are the parts of dodoor+, each a switch, so that its effect can be shown alone.
type PlusKnobs struct {
	Score    string
	View     string
	Home     bool
	Foreign  int
	Gain     float64 // a share of 1
	Adaptive bool
	Weighted bool
	Ties     bool
}

// DefaultPlus is the recommended policy: every part on.
func DefaultPlus() *PlusKnobs {
	return &PlusKnobs{Score: "ect", View: "fresh", Home: true, Foreign: 4, Gain: 0.1, Adaptive: true, Weighted: true, Ties: true}
}

// Table says what each part does.
func (k *PlusKnobs) Table() Table {
	foreign := Range{High: maxForeign}
	if !k.Home {
		foreign.Low, foreign.Why = 1, "with dodoor_plus.home = false nothing would be compared"
	}
	words := func(w ...string) Range { return Range{Words: w} }
	return Table{
		Name:  "dodoor_plus",
		About: "The parts of the policy `dodoor+`, each a switch, so that its effect can be shown alone ([policies.md](policies.md)).",
		Knobs: []Knob{
			{Key: "score", Value: &k.Score, Range: words("ect", "ldn"), Means: "Expected completion time from L, D, N and W, or from L, D and N " +
				"alone."},
			{Key: "view", Value: &k.View, Range: words("fresh", "snapshot"), Means: "`fresh`: a node's newest report, whichever way it came: " +
				"those that ride on acknowledgements and completion notices refresh the view; no further message, some bytes. " +
				"`snapshot`: snapshots alone. Both count own placements."},
			{Key: "home", Value: &k.Home, Means: "Compare the nodes whose home scheduler this is; off: the sampled nodes alone."},
			{Key: "foreign", Value: &k.Foreign, Range: foreign, Unit: "nodes", Means: "Sampled besides the home nodes; " +
				"all that is compared with `home = false`. More: better under skewed load, slower decisions. 4 to 8 are enough."},
			{Key: "gain", Value: &k.Gain, Range: Range{High: 0.99}, Means: "A foreign node must be better by this share: what home is worth."},
			{Key: "adaptive", Value: &k.Adaptive, Means: "Up to four times `foreign` for a scheduler that places more than 1/S of the tasks."},
			{Key: "weighted", Value: &k.Weighted, Means: "Sample in proportion to capacity in the task's dominant resource; " +
				"off: uniformly. It matters little beside the score ([reproduction.md](reproduction.md#capacity))."},
			{Key: "ties", Value: &k.Ties, Means: "Settle near-ties (1 %) at random; off: the first seen wins."},
		},
	}
}

const (
	maxForeign = 64
	// maxHomes bounds the home nodes compared per decision, so that a decision stays fast when there are
	// thousands: a random window of the shuffled list is a sample without replacement.
	maxHomes = 64
)

// DodoorPlus compares the expected completion time on all the nodes at home here with a few sampled foreign
// ones. A scheduler's view of its home nodes is nearly exact, because hardly anybody else uses them, and
// schedulers do not herd, because they look at different nodes. Nothing is exclusive: a scheduler that gets
// most of the load overflows to foreign nodes by itself.
type DodoorPlus struct {
	knobs PlusKnobs
	score ectScore
	place [1]Placement
}

func newPlus(k PlusKnobs) *DodoorPlus {
	return &DodoorPlus{knobs: k, score: ectScore{fromLDN: k.Score == "ldn"}}
}

// Submit places t at once.
func (p *DodoorPlus) Submit(_ time.Duration, t *cluster.Task, v *View) Decision {
	draws := v.Draws(t)
	home := champion{node: NoNode}
	if p.knobs.Home {
		home = p.bestHome(t, v, draws)
	}
	foreign := champion{node: NoNode}
	for range p.foreignCount(v) {
		if i, ok := p.sample(t, v, draws); ok {
			foreign.consider(i, p.score.of(v, t, i), p.knobs.Ties, draws)
		}
	}
	chosen := home.node
	if chosen == NoNode || foreign.node != NoNode && foreign.ect < home.ect*(1-p.knobs.Gain) {
		chosen = foreign.node
	}
	return placeOn(&p.place, t, v, draws, chosen)
}

// bestHome compares the home nodes.
func (p *DodoorPlus) bestHome(t *cluster.Task, v *View, draws *rand.Rand) champion {
	best := champion{node: NoNode}
	homes := v.Homes()
	if len(homes) == 0 {
		return best
	}
	at := draws.IntN(len(homes))
	for range min(len(homes), maxHomes) {
		if i := int(homes[at]); v.Feasible(i, t) {
			best.consider(i, p.score.of(v, t, i), p.knobs.Ties, draws)
		}
		if at++; at == len(homes) {
			at = 0
		}
	}
	return best
}

// sample draws a foreign node; without homes, any node.
func (p *DodoorPlus) sample(t *cluster.Task, v *View, draws *rand.Rand) (int, bool) {
	if p.knobs.Weighted {
		return v.DrawWeighted(t, draws)
	}
	i, ok := v.Draw(t, draws, NoNode)
	return i, ok && !(p.knobs.Home && v.Node(i).Home)
}

// foreignCount grows with this scheduler's share of the placements, up to four times the setting: one that
// gets everything has to know the whole cluster.
func (p *DodoorPlus) foreignCount(v *View) int {
	if !p.knobs.Home || !p.knobs.Adaptive {
		return p.knobs.Foreign
	}
	excess := min(max(v.Share*float64(v.Schedulers), 1), 4)
	return min(int(math.Round(float64(p.knobs.Foreign)*excess)), maxForeign)
}

// Wants the newest report of every node, unless the knobs say otherwise.
func (p *DodoorPlus) Wants() Wants {
	loads := Fresh
	if p.knobs.View == "snapshot" {
		loads = Corrected
	}
	return Wants{Loads: loads, Homes: p.knobs.Home, Weights: p.knobs.Weighted && p.knobs.Foreign > 0}
}
