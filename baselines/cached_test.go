package baselines

import (
	"math"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// setTasks makes the view show n tasks on node i.
func setTasks(v *scheduler.View, i int, n int64) {
	v.Node(i).Load = cluster.Load{Tasks: n, Duration: 1000 * n, Demand: cluster.Resources{cluster.Cores: 1000 * n}}
}

// "Random (uniformly selects one feasible server)" (Sec. 6.1).
func TestPaperRandomIsUniform(t *testing.T) {
	const nodes, n = 10, 20000
	p := newPolicy(t, "random")
	v := viewOf(t, nodes, p)
	setTasks(v, 3, 1000)
	counts := make([]int, nodes)
	for i := range n {
		counts[placedOn(t, p.Submit(0, unit(i), v))]++
	}
	for node, count := range counts {
		if math.Abs(float64(count)-n/nodes) > 6*math.Sqrt(n*0.1*0.9) {
			t.Errorf("node %d got %d of %d tasks; uniform is %d", node, count, n, n/nodes)
		}
	}
}

// Two choices on the cached N: fewer wins, a tie goes to the first drawn.
func TestCachedPoTTakesTheShorterQueue(t *testing.T) {
	p := newPolicy(t, "cached-pot")
	v := viewOf(t, 20, p)
	for i := range 20 {
		setTasks(v, i, int64(i/4))
	}
	for i := range 500 {
		task := unit(i)
		draws := v.Draws(task)
		first, _ := v.Draw(task, draws, scheduler.NoNode)
		second, _ := v.Draw(task, draws, first)
		want := first
		if second/4 < first/4 {
			want = second
		}
		if got := placedOn(t, p.Submit(0, task, v)); got != want {
			t.Fatalf("candidates %d and %d: placed on %d, want %d", first, second, got, want)
		}
	}
}

// The (1+β) process: with probability 1−β the first draw is taken, unseen.
func TestOnePlusBeta(t *testing.T) {
	for _, c := range []struct{ beta, share float64 }{{0, 0.5}, {0.5, 0.25}, {0.7, 0.15}, {1, 0}} {
		p := newPolicy(t, "oneplusbeta", func(s scheduler.Settings) { score(s).Beta = c.beta })
		v := viewOf(t, 2, p)
		setTasks(v, 0, 9)
		onBusy := 0
		const n = 20000
		for i := range n {
			if placedOn(t, p.Submit(0, unit(i), v)) == 0 {
				onBusy++
			}
		}
		if got := float64(onBusy) / n; math.Abs(got-c.share) > 0.02 {
			t.Errorf("β = %v: %.3f of the tasks on the busy node, want %v", c.beta, got, c.share)
		}
	}
}

// Least-loaded compares all nodes; a tie goes to the first in index order.
func TestLeastLoadedTakesTheFirstLeast(t *testing.T) {
	p := newPolicy(t, "least-loaded")
	v := viewOf(t, 30, p)
	for i := range 30 {
		setTasks(v, i, 7)
	}
	setTasks(v, 12, 2)
	setTasks(v, 25, 2)
	for i := range 50 {
		if got := placedOn(t, p.Submit(0, unit(i), v)); got != 12 {
			t.Fatalf("placed on node %d, want 12", got)
		}
	}
}

// herd places rounds·batch tasks that never complete, with a snapshot of the truth after every batch,
// and returns the most that one node got within a batch and the final spread between nodes.
func herd(t *testing.T, policy string, correct bool, nodes, batch, rounds int) (burst int, spread int64) {
	cfg := testConfig()
	cfg.SelfCorrection = correct
	names := equalNodes(nodes)
	r := newReplica(t, cfg, newPolicy(t, policy), names)
	loads, own := make([]cluster.Load, nodes), make([]int64, nodes)
	for round := range rounds {
		got := make([]int, nodes)
		for i := range batch {
			actions, refusal := r.Submit(0, "client", request(round*batch+i))
			if refusal != nil {
				t.Fatal(refusal)
			}
			d := actions.Send[0]
			loads[d.Node] = loads[d.Node].Add(cluster.LoadOf(d.Assignment.Shape))
			own[d.Node] = d.Assignment.Number
			got[d.Node]++
			burst = max(burst, got[d.Node])
		}
		push(t, r, int64(round)+2, names, loads, own)
	}
	least, most := loads[0].Tasks, loads[0].Tasks
	for _, l := range loads {
		least, most = min(least, l.Tasks), max(most, l.Tasks)
	}
	return burst, most - least
}

// "Deterministic best-candidate selection under stale snapshots can amplify herding on apparently light
// nodes" (Sec. 6.1): between two snapshots, least-loaded sends everything to one node. Own placements
// that the snapshot does not include yet, added to the view, cure it; two random choices hardly suffer.
func TestPaperLeastLoadedHerds(t *testing.T) {
	const nodes, batch, rounds = 20, 50, 30
	if burst, spread := herd(t, "least-loaded", false, nodes, batch, rounds); burst != batch || spread < batch {
		t.Errorf("stale view: at most %d of a batch of %d on one node, spread %d; it should herd", burst, batch, spread)
	}
	if burst, spread := herd(t, "least-loaded", true, nodes, batch, rounds); burst > batch/nodes+1 || spread > 1 {
		t.Errorf("self-corrected view: %d of a batch on one node, spread %d; it should be even", burst, spread)
	}
	if burst, spread := herd(t, "cached-pot", false, nodes, batch, rounds); burst > batch/3 || spread > batch/2 {
		t.Errorf("two choices on the stale view: %d of a batch on one node, spread %d", burst, spread)
	}
}
