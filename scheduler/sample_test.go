package scheduler

import (
	"fmt"
	"math"
	"testing"

	"dodoor/internal/cluster"
)

// The table gives every member its exact share of the draws; without any weight all have the same.
func TestAliasTablesAreExact(t *testing.T) {
	for _, weights := range [][]float64{{1}, {1, 1, 1}, {8, 10, 16, 28}, {1, 2, 3, 10, 0, 5}, {0, 0, 7}, {0, 0}, {28, 28, 1, 1, 16, 9, 9}} {
		n := len(weights)
		var table alias
		table.build(n, func(i int) float64 { return weights[i] })
		total, got := 0.0, make([]float64, n)
		for i, w := range weights {
			total += w
			stay := min(table.stay[i], 1)
			got[i] += stay / float64(n)
			got[table.other[i]] += (1 - stay) / float64(n)
		}
		for i, w := range weights {
			want := 1 / float64(n)
			if total > 0 {
				want = w / total
			}
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("%v: number %d gets %v of the draws, want %v", weights, i, got[i], want)
			}
		}
	}
}

// A task's dominant resource is the one of which it asks the largest share; of equals, the first; never one that
// nobody has.
func TestDominantResource(t *testing.T) {
	cfg := testConfig()
	cfg.Dimensions, _ = cluster.NewDimensions("gpu")
	node := nodeOf("a", 8, 65536)
	node.Capacity[cluster.FirstExtra] = 4000 // and no disk
	r := replicaWith(t, cfg, paperPolicy(t), []cluster.Node{node, nodeOf("b", 4, 1000)})
	for _, c := range []struct {
		demand cluster.Resources
		want   int
	}{
		{cluster.Resources{4000, 6000}, cluster.Cores},
		{cluster.Resources{400, 6000}, cluster.Memory},
		{cluster.Resources{4000, 32768}, cluster.Cores},
		{cluster.Resources{400, 600, 0, 2000}, cluster.FirstExtra},
		{cluster.Resources{400, 600, 5}, cluster.Cores},
		{cluster.Resources{}, cluster.Cores},
	} {
		task := unitTask(fmt.Sprint(c.demand), 0, 1)
		task.Uniform.Demand = c.demand
		if got := r.View().dominant(task); got != c.want {
			t.Errorf("%v: dimension %d dominates, want %d", c.demand, got, c.want)
		}
	}
}

// The first share that is observed is taken as it is; later ones move it by three tenths of the way. Nothing is
// learnt where nobody placed anything, and nobody places more than everything.
func TestObservedShares(t *testing.T) {
	v := newView(1, 1, Wants{Homes: true})
	for _, c := range []struct {
		own, all int64
		want     float64
	}{{5, 0, 0}, {-1, 10, 0}, {5, 10, 0.5}, {10, 10, 0.65}, {0, 10, 0.455}, {0, 0, 0.455}, {5, -10, 0.455}, {-5, 10, 0.455},
		{50, 10, 0.6185}} {
		if v.observeShare(c.own, c.all); math.Abs(v.Share-c.want) > 1e-12 {
			t.Errorf("%d of %d: share %v, want %v", c.own, c.all, v.Share, c.want)
		}
	}
}

// Every attempt of a task draws anew; the same attempt of the same run draws the same for ever, because published
// figures rest on it.
func TestDrawsOfAttempts(t *testing.T) {
	v := newView(1, 1, Wants{})
	seen := map[uint64]bool{}
	for attempt := range int32(4) {
		seen[v.Draws(&cluster.Task{Seed: 5, Attempt: attempt}).Uint64()] = true
	}
	if len(seen) != 4 {
		t.Errorf("four attempts draw %d different numbers", len(seen))
	}
	if got := v.Draws(&cluster.Task{Seed: 5, Attempt: 1}).Uint64(); got != 0x12f861e075a3b8de {
		t.Errorf("the second attempt of task 5 draws %#x", got)
	}
}

// Where hardly anything is feasible, a draw looks at every candidate, and each feasible one has the same chance.
func TestDrawsAmongFewFeasibleNodes(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(60))
	v, task := r.View(), unitTask("a", 1, 1)
	for i := range 60 {
		if i != 10 && i != 20 && i != 30 && i != 40 {
			task.Tried = &cluster.Tried{Node: int32(i), Earlier: task.Tried}
		}
	}
	const n = 9000
	draws, count := v.Draws(task), map[int]float64{}
	for range n {
		i, ok := v.drawByScan(task, draws, 40)
		if !ok {
			t.Fatal("nothing drawn")
		}
		count[i]++
	}
	for _, i := range []int{10, 20, 30} {
		if share := count[i] / n; math.Abs(share-1.0/3) > 0.02 || len(count) != 3 {
			t.Errorf("node %d gets %.3f of the draws, want a third; %v", i, share, count)
		}
	}
}
