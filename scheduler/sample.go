package scheduler

import (
	"math/rand/v2"

	"dodoor/internal/cluster"
)

// sampler draws from a set of nodes in proportion to their capacity in one dimension, in constant time:
// an alias table (Walker's method) per dimension, built when the roster changes.
type sampler struct {
	members []int32
	tables  [cluster.MaxDimensions]alias
}

// alias holds, per column, the probability to stay in it and the column to go to otherwise.
type alias struct {
	stay  []float64
	other []int32
}

func (s *sampler) build(v *View, members []int32) {
	s.members = append(s.members[:0], members...)
	for k := range v.dims {
		s.tables[k].build(len(members), func(i int) float64 { return float64(v.nodes[members[i]].Capacity[k]) })
	}
}

// build fills the table for n weights. Without any weight every column is as likely.
func (a *alias) build(n int, weight func(i int) float64) {
	total := 0.0
	for i := range n {
		total += weight(i)
	}
	a.stay, a.other = make([]float64, n), make([]int32, n)
	var small, large []int32
	for i := range n {
		a.stay[i] = 1
		if total > 0 {
			a.stay[i] = weight(i) / total * float64(n)
		}
		a.other[i] = int32(i)
		if a.stay[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		little, much := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[little] = much
		a.stay[much] -= 1 - a.stay[little]
		if a.stay[much] < 1 {
			large = large[:len(large)-1]
			small = append(small, much)
		}
	}
}

// draw returns a member in proportion to its capacity in dimension k.
func (s *sampler) draw(k int, draws *rand.Rand) int {
	column := draws.IntN(len(s.members))
	if t := &s.tables[k]; draws.Float64() >= t.stay[column] {
		column = int(t.other[column])
	}
	return int(s.members[column])
}

// gatherHomes finds the candidates at home here and returns the others.
func (v *View) gatherHomes() (foreign []int32) {
	v.homes = v.homes[:0]
	for _, i := range v.candidates {
		if v.nodes[i].Home {
			v.homes = append(v.homes, i)
		} else {
			foreign = append(foreign, i)
		}
	}
	v.pcg.Seed(v.seed, uint64(len(v.homes)))
	v.draws.Shuffle(len(v.homes), func(a, b int) { v.homes[a], v.homes[b] = v.homes[b], v.homes[a] })
	return foreign
}

// DrawWeighted draws a feasible candidate in proportion to its capacity in the task's dominant resource;
// false when a bounded number of draws finds none. For a policy that wants Homes, nodes at home here are left
// out. It is for policies that want Weights.
func (v *View) DrawWeighted(t *cluster.Task, draws *rand.Rand) (int, bool) {
	if len(v.sampler.members) == 0 {
		return NoNode, false
	}
	k := v.dominant(t)
	for range rejections {
		if i := v.sampler.draw(k, draws); v.Feasible(i, t) {
			return i, true
		}
	}
	return NoNode, false
}

// Homes returns the candidates at home here, in a random order that stays the same while the roster
// does, to a policy that wants them. The caller must not keep it.
func (v *View) Homes() []int32 { return v.homes }

// dominant is the dimension in which the task asks for the largest share of the cluster's largest
// capacity, on the class of the first candidate.
func (v *View) dominant(t *cluster.Task) int {
	shape, _ := t.ShapeOn(v.nodes[v.candidates[0]].Class)
	best, most := cluster.Cores, 0.0
	for k := range v.dims {
		if v.largest[k] == 0 {
			continue
		}
		if share := float64(shape.Demand[k]) / float64(v.largest[k]); share > most {
			best, most = k, share
		}
	}
	return best
}

// shareMemory is the weight of the newest observation of a replica's share of the placements.
const shareMemory = 0.3

// observeShare takes the placements between two snapshots: this replica's and everybody's.
func (v *View) observeShare(own, all int64) {
	if all <= 0 || own < 0 {
		return
	}
	share := min(float64(own)/float64(all), 1)
	if v.Share == 0 {
		v.Share = share
		return
	}
	v.Share += shareMemory * (share - v.Share)
}
