package scheduler

import (
	"fmt"
	"math"
	"testing"

	"dodoor/internal/cluster"
)

// The wait is that of the tightest resource; one that the node has not got holds nobody up, and without pending
// tasks nobody waits.
func TestWaitOfTheTightestResource(t *testing.T) {
	load := cluster.Load{Demand: cluster.Resources{4000, 3000}, Tasks: 4, Duration: 8000, Work: 8_000_000} // 2 s each
	for _, c := range []struct {
		what string
		node NodeView
		want float64
	}{
		{"cores: W/C = 8e6/4000", NodeView{Capacity: cluster.Resources{4000, 10000}, Slots: 8, Load: load}, 2000},
		{"slots: D/slots = 8000/2", NodeView{Capacity: cluster.Resources{8000, 10000}, Slots: 2, Load: load}, 4000},
		{"memory: 3000/1000 of its capacity, 2 s each", NodeView{Capacity: cluster.Resources{8000, 1000}, Slots: 8, Load: load}, 6000},
		{"no cores are known: D/slots = 8000/8", NodeView{Slots: 8, Load: load}, 1000},
		{"nothing is pending", NodeView{Capacity: cluster.Resources{8000, 1000}, Slots: 8, Load: cluster.Load{Demand: load.Demand}}, 0},
	} {
		if got := (ectScore{}).wait(&c.node); got != c.want {
			t.Errorf("%s: %v ms, want %v", c.what, got, c.want)
		}
	}
}

// A demand fits that fills a node exactly; a dimension that it does not need may be full or more than that.
func TestWhatFits(t *testing.T) {
	for _, c := range []struct {
		what         string
		load, demand cluster.Resources
		share        float64
		fits         bool
	}{
		{"half full", cluster.Resources{1000, 0}, cluster.Resources{1000, 100}, 0.5, true},
		{"exactly full", cluster.Resources{2000, 0}, cluster.Resources{2000, 0}, 1, true},
		{"too much", cluster.Resources{2000, 0}, cluster.Resources{2001, 0}, 4001.0 / 4000, false},
		{"too much of what it does not need", cluster.Resources{0, 2000}, cluster.Resources{1000, 0}, 2, true},
		{"too much memory", cluster.Resources{0, 2000}, cluster.Resources{1000, 1}, 2.001, false},
	} {
		n := &NodeView{Capacity: cluster.Resources{4000, 1000}, Load: cluster.Load{Demand: c.load}}
		if share, fits := dominantShare(n, &c.demand); share != c.share || fits != c.fits {
			t.Errorf("%s: %v of the node, fits %v; want %v, %v", c.what, share, fits, c.share, c.fits)
		}
	}
}

// Of nodes within one percent of each other each wins as often; one that is better by more wins always. Without
// random ties the best wins, and of equals the first.
func TestNearTies(t *testing.T) {
	v := newView(1, 1, Wants{})
	for _, c := range []struct {
		ects   []float64
		random bool
		share  []float64 // of the wins
	}{
		{[]float64{100, 100, 100, 100}, true, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]float64{100, 99}, true, []float64{0.5, 0.5}},
		{[]float64{100, 98.9}, true, []float64{0, 1}},
		{[]float64{100, 101}, true, []float64{0.5, 0.5}},
		{[]float64{100, 101.1}, true, []float64{1, 0}},
		{[]float64{100, 150, 50}, true, []float64{0, 0, 1}},
		{[]float64{100, 100}, false, []float64{1, 0}},
		{[]float64{100, 99.9}, false, []float64{0, 1}},
		{[]float64{100, 100.1}, false, []float64{1, 0}},
	} {
		const n = 4000
		wins := make([]float64, len(c.ects))
		draws := v.Draws(unitTask(fmt.Sprint(c.ects), 1, 1))
		for range n {
			best := champion{node: NoNode}
			for i, ect := range c.ects {
				best.consider(i, ect, c.random, draws)
			}
			wins[best.node]++
		}
		for i := range wins {
			if got := wins[i] / n; math.Abs(got-c.share[i]) > 0.03 || (got == 0) != (c.share[i] == 0) {
				t.Errorf("%v, random %v: number %d wins %.3f, want %.2f", c.ects, c.random, i, got, c.share[i])
			}
		}
	}
}
