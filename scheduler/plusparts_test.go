package scheduler

import (
	"fmt"
	"math"
	"testing"

	"dodoor/internal/cluster"
)

// A scheduler that gets everything compares four times as many foreign nodes in every decision: with the one idle
// node among 80 foreign ones, it finds it as often as 16 draws do.
func TestDecisionsUseTheAdaptiveNumber(t *testing.T) {
	busy := cluster.Load{Demand: cluster.Resources{28000, 0}, Tasks: 28, Duration: 28e6, Work: 28000e6}
	loads := make([]cluster.Load, 100)
	for i := range loads {
		loads[i] = busy
	}
	loads[1] = cluster.Load{} // at home elsewhere
	k := DefaultPlus()
	k.Weighted = false
	r, p := plusCluster(t, 100, k, loads...)
	for share, samples := range map[float64]float64{0.2: 4, 1: 16} {
		r.View().Share = share
		const n = 4000
		found := 0
		for i := range n {
			if place(t, p, r, unitTask(fmt.Sprint(i), 1, 1000)) == 1 {
				found++
			}
		}
		// A draw that meets a home node, a fifth of them, does not count.
		want := 1 - math.Pow(1-1.0/100, samples)
		if got := float64(found) / n; math.Abs(got-want) > 0.015 {
			t.Errorf("share %v: the idle node is found in %.3f of the decisions, want %.3f", share, got, want)
		}
	}
}

// The number of foreign nodes is the setting alone when it is not adaptive, or when there are no homes to compare
// with, whatever the share; it has an upper bound.
func TestForeignCountWithoutAdaption(t *testing.T) {
	for _, c := range []struct {
		change func(k *PlusKnobs)
		want   int
	}{
		{func(k *PlusKnobs) { k.Adaptive = false }, 4},
		{func(k *PlusKnobs) { k.Home = false }, 4},
		{func(k *PlusKnobs) { k.Foreign = 3 }, 12},
		{func(k *PlusKnobs) { k.Foreign = 30 }, maxForeign},
	} {
		k := DefaultPlus()
		c.change(k)
		r, policy := plusCluster(t, 20, k)
		r.View().Share = 1
		if got := policy.(*DodoorPlus).foreignCount(r.View()); got != c.want {
			t.Errorf("%+v: %d foreign nodes for a scheduler that places everything, want %d", *k, got, c.want)
		}
	}
}

// A foreign node that is not better stays a stranger: with a gain of nothing, equals are taken at home.
func TestEqualsAreTakenAtHome(t *testing.T) {
	k := DefaultPlus()
	k.Gain, k.Ties = 0, false
	r, p := plusCluster(t, 20, k)
	for i := range 100 {
		task := unitTask(fmt.Sprint(i), 0, 1000) // takes nothing of any node, so that all are equal
		task.Uniform.Demand = cluster.Resources{}
		if !r.View().Node(place(t, p, r, task)).Home {
			t.Fatal("it went abroad")
		}
	}
}

// Uniform samples are of foreign nodes alone where homes are compared already, else of all nodes, equally often.
func TestUniformSamples(t *testing.T) {
	for _, home := range []bool{true, false} {
		k := DefaultPlus()
		k.Weighted, k.Home = false, home
		r, policy := plusCluster(t, 20, k)
		v, task := r.View(), unitTask("a", 1, 1000)
		draws, atHome, drawn := v.Draws(task), 0, 0
		for range 2000 {
			if i, ok := policy.(*DodoorPlus).sample(task, v, draws); ok {
				drawn++
				if v.Node(i).Home {
					atHome++
				}
			}
		}
		if home && (atHome > 0 || drawn < 1500) {
			t.Errorf("%d of %d samples are at home, want none", atHome, drawn)
		}
		if !home && (drawn != 2000 || atHome < 300 || atHome > 500) {
			t.Errorf("%d of %d samples are at home, which is a fifth of the nodes", atHome, drawn)
		}
	}
	k := DefaultPlus()
	k.Weighted = false
	_, policy := plusCluster(t, 20, k)
	none := replicaOf(t, 20, policy).View()
	if _, ok := policy.(*DodoorPlus).sample(unitTask("huge", 1000, 1), none, none.Draws(unitTask("huge", 1000, 1))); ok {
		t.Error("a node was sampled that cannot take the task")
	}
}

// What a policy wants of the view follows from its knobs: nothing is kept that it does not read.
func TestPlusWants(t *testing.T) {
	for _, c := range []struct {
		change func(k *PlusKnobs)
		want   Wants
	}{
		{func(*PlusKnobs) {}, Wants{Loads: Fresh, Homes: true, Weights: true}},
		{func(k *PlusKnobs) { k.View = "snapshot" }, Wants{Loads: Corrected, Homes: true, Weights: true}},
		{func(k *PlusKnobs) { k.Home = false }, Wants{Loads: Fresh, Weights: true}},
		{func(k *PlusKnobs) { k.Weighted = false }, Wants{Loads: Fresh, Homes: true}},
		{func(k *PlusKnobs) { k.Foreign = 0 }, Wants{Loads: Fresh, Homes: true}},
		{func(k *PlusKnobs) { k.Foreign = 1 }, Wants{Loads: Fresh, Homes: true, Weights: true}},
	} {
		k := DefaultPlus()
		c.change(k)
		if got := newPlus(*k).Wants(); got != c.want {
			t.Errorf("%+v wants %+v, want %+v", *k, got, c.want)
		}
	}
}

// With weighted draws the paper's two candidates are distinct, and drawn in proportion to capacity.
func TestWeightedCandidates(t *testing.T) {
	k := DefaultScore()
	k.Weighted = true
	p := NewDodoor(k)
	r := replicaOf(t, 4, p) // of 8, 10, 16 and 28 cores
	v, task := r.View(), unitTask("a", 1, 1000)
	draws := v.Draws(task)
	const n = 20000
	count := make([]float64, 4)
	for range n {
		i, ok := p.draw(task, v, draws, NoNode)
		if !ok {
			t.Fatal("nothing drawn")
		}
		count[i]++
		if second, ok := p.draw(task, v, draws, i); !ok || second == i {
			t.Fatalf("second candidate %d after %d", second, i)
		}
	}
	for i, cores := range []float64{8, 10, 16, 28} {
		if got, want := count[i]/n, cores/62; math.Abs(got-want) > 0.015 {
			t.Errorf("the node of %v cores is drawn in %.3f of the cases, want %.3f", cores, got, want)
		}
	}
}

// With the score ldn the wait is estimated from L, D and N, with ect from the work that is pending.
func TestScoresOfPlus(t *testing.T) {
	n := &NodeView{Capacity: cluster.Resources{4000}, Slots: 100,
		Load: cluster.Load{Demand: cluster.Resources{4000}, Tasks: 4, Duration: 8000, Work: 12_000_000}}
	for score, want := range map[string]float64{"ldn": 2000, "ect": 3000} {
		k := DefaultPlus()
		k.Score = score
		if got := newPlus(*k).score.wait(n); got != want {
			t.Errorf("%s: %v ms, want %v", score, got, want)
		}
	}
}
