package scheduler

import (
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
)

// NoNode stands for "none" where a node index is expected.
const NoNode = -1

// NodeView is what a replica believes about one node.
type NodeView struct {
	Name     string
	Class    cluster.ClassID
	Capacity cluster.Resources
	Slots    int
	Load     cluster.Load // snapshot (or newer report), plus own placements it does not contain when self-correcting
	Home     bool         // this replica is the node's home scheduler

	inverseSquare     [cluster.MaxDimensions]float64 // 1/C_k², 0 where C_k = 0
	inverseNormSquare float64                        // 1/‖C‖² on capacities relative to the largest
}

// View is the cached cluster state that policies read: flat arrays indexed by a dense node index that
// stays the same for as long as the node is registered.
type View struct {
	Decisions int64         // cluster-wide decisions that the newest snapshot included
	Fresh     time.Duration // when it arrived

	Schedulers int     // registered replicas
	Share      float64 // this replica's recent share of the cluster's placements; 0: not known yet

	dims                 int
	nodes                []NodeView
	candidates           []int32 // nodes that take placements, in index order
	homes                []int32 // the candidates at home here, shuffled, where the policy wants them
	sampler              sampler // the candidates by capacity or, with homes, those at home elsewhere
	largest              cluster.Resources
	inverseLargestSquare [cluster.MaxDimensions]float64

	wants Wants
	seed  uint64
	pcg   rand.PCG
	draws *rand.Rand
}

func newView(dims int, seed uint64, wants Wants) *View {
	v := &View{dims: dims, seed: seed, wants: wants}
	v.draws = rand.New(&v.pcg)
	return v
}

// Node returns the view of node i.
func (v *View) Node(i int) *NodeView { return &v.nodes[i] }

// Candidates returns the indices of the nodes that take placements. The caller must not keep it.
func (v *View) Candidates() []int32 { return v.candidates }

// Draws returns the generator of every random choice for t: seeded by the run's seed, the task's id
// and the attempt, so that runs are comparable across policies (paper, Sec. 5). It is valid until the
// next call.
func (v *View) Draws(t *cluster.Task) *rand.Rand {
	v.pcg.Seed(v.seed, t.Seed+uint64(t.Attempt)*0x9e3779b97f4a7c15)
	return v.draws
}

// Feasible reports whether node i could ever run t: its class runs t, its capacity covers the demand
// in every dimension, and it neither refused t before nor bars its kind.
func (v *View) Feasible(i int, t *cluster.Task) bool {
	n := &v.nodes[i]
	demand, ok := t.DemandOn(n.Class)
	if !ok || !demand.FitsIn(&n.Capacity) {
		return false
	}
	return !t.Tried.Has(i) && !t.Barred.Has(i)
}

// rejections bounds how often Draw guesses before it looks at every candidate. Guessing is exact and
// O(1) while a fair share of the candidates is feasible, which is the common case.
const rejections = 16

// Draw draws one feasible candidate uniformly, other than except (NoNode: any). It is false when
// there is none.
func (v *View) Draw(t *cluster.Task, draws *rand.Rand, except int) (int, bool) {
	if len(v.candidates) == 0 {
		return NoNode, false
	}
	for range rejections {
		i := int(v.candidates[draws.IntN(len(v.candidates))])
		if i != except && v.Feasible(i, t) {
			return i, true
		}
	}
	return v.drawByScan(t, draws, except)
}

// drawByScan draws uniformly in two passes over the candidates: count, then pick.
func (v *View) drawByScan(t *cluster.Task, draws *rand.Rand, except int) (int, bool) {
	feasible := 0
	for _, i := range v.candidates {
		if int(i) != except && v.Feasible(int(i), t) {
			feasible++
		}
	}
	if feasible == 0 {
		return NoNode, false
	}
	pick := draws.IntN(feasible)
	for _, i := range v.candidates {
		if int(i) == except || !v.Feasible(int(i), t) {
			continue
		}
		if pick == 0 {
			return int(i), true
		}
		pick--
	}
	return NoNode, false
}

// set installs a node at index i with an empty load.
func (v *View) set(i int, name string, class cluster.ClassID, capacity cluster.Resources, slots int) {
	for len(v.nodes) <= i {
		v.nodes = append(v.nodes, NodeView{})
	}
	n := NodeView{Name: name, Class: class, Capacity: capacity, Slots: slots}
	for k, c := range capacity {
		if c > 0 {
			n.inverseSquare[k] = 1 / (float64(c) * float64(c))
		}
	}
	v.nodes[i] = n
}

// refresh recomputes what depends on the whole set of nodes. eligible says which take placements.
func (v *View) refresh(present, eligible func(i int) bool) {
	v.candidates = v.candidates[:0]
	v.largest = cluster.Resources{}
	for i := range v.nodes {
		if !present(i) {
			continue
		}
		if eligible(i) {
			v.candidates = append(v.candidates, int32(i))
		}
		for k, c := range v.nodes[i].Capacity {
			v.largest[k] = max(v.largest[k], c)
		}
	}
	for k, c := range v.largest {
		v.inverseLargestSquare[k] = 0
		if c > 0 {
			v.inverseLargestSquare[k] = 1 / (float64(c) * float64(c))
		}
	}
	for i := range v.nodes {
		v.nodes[i].inverseNormSquare = inverseNorm(&v.nodes[i].Capacity, &v.inverseLargestSquare)
	}
	drawn := v.candidates
	if v.wants.Homes {
		drawn = v.gatherHomes()
	}
	if v.wants.Weights {
		v.sampler.build(v, drawn)
	}
}
