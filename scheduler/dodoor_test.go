package scheduler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Sec. 3.1, Eq. 1: rl = r·L / ‖C‖². All readings rank like the printed formula when there is only one
// dimension, where it needs no normalisation.
func TestPaperEq1OneDimension(t *testing.T) {
	nodes := []cluster.Node{nodeOf("a", 8, 0), nodeOf("b", 28, 0)}
	loads := []cluster.Load{{Demand: cores(4)}, {Demand: cores(21)}}
	demand := cores(2)
	printed := func(l, c float64) float64 { return 2 * l / (c * c) }
	for _, kind := range []ScoreKind{PerDimension, Norm, Raw} {
		r := replicaWith(t, testConfig(), paperPolicy(t), nodes, loads...)
		got := r.view.resourceLoad(0, &demand, kind) / r.view.resourceLoad(1, &demand, kind)
		if want := printed(4, 8) / printed(21, 28); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: rl_a/rl_b = %v, the printed formula gives %v", kind, got, want)
		}
	}
}

// Eq. 1 per dimension: the mean over dimensions of r_k·L_k/C_k².
func TestPerDimensionReading(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 65536)},
		cluster.Load{Demand: cluster.Resources{4000, 8192}})
	demand := cluster.Resources{2000, 1024}
	want := (2000.0*4000/(8000*8000) + 1024.0*8192/(65536*65536)) / 3
	if got := r.view.resourceLoad(0, &demand, PerDimension); math.Abs(got-want) > 1e-15 {
		t.Errorf("rl = %v, want %v", got, want)
	}
}

// Eq. 1 by norm: every dimension divided by the cluster's largest capacity in it, so that megabytes do
// not drown the cores.
func TestNormReading(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 65536), nodeOf("b", 28, 131072)},
		cluster.Load{Demand: cluster.Resources{4000, 8192}})
	demand := cluster.Resources{2000, 1024}
	c, m := 8.0/28, 0.5
	want := (2.0/28*4/28 + 1024.0/131072*8192/131072) / (c*c + m*m)
	if got := r.view.resourceLoad(0, &demand, Norm); math.Abs(got-want) > 1e-15 {
		t.Errorf("rl = %v, want %v", got, want)
	}
}

// Sec. 3.1, Eq. 1 as printed: "rl = r·L / ‖C‖², where ‖C‖² = Σ C_κ² is the normalization of server
// capacity", in cores, megabytes and whole extra resources.
func TestPaperEq1AsPrinted(t *testing.T) {
	cfg := testConfig()
	cfg.Dimensions, _ = cluster.NewDimensions("gpu")
	const gpu = cluster.FirstExtra
	node := nodeOf("a", 8, 16)
	node.Capacity[cluster.Disk], node.Capacity[gpu] = 10, 4000
	load := cluster.Load{Demand: cluster.Resources{cluster.Cores: 4000, cluster.Memory: 8, cluster.Disk: 5, gpu: 2000}}
	demand := cluster.Resources{cluster.Cores: 2000, cluster.Memory: 1, cluster.Disk: 3, gpu: 500}
	r := replicaWith(t, cfg, paperPolicy(t), []cluster.Node{node}, load)
	// r = (2 cores, 1 MB, 3 MB, 0.5), L = (4, 8, 5, 2), C = (8, 16, 10, 4):
	// (8 + 8 + 15 + 1) / (64 + 256 + 100 + 16).
	if got, want := r.view.resourceLoad(0, &demand, Raw), 32.0/436; math.Abs(got-want) > 1e-15 {
		t.Errorf("rl = %v, want %v", got, want)
	}
}

// Raw megabytes drown the cores: of two equal nodes, the printed formula takes the one without a free core,
// because it has one gigabyte more. Where every dimension is normalised, the other one wins.
func TestRawMegabytesDrownTheCores(t *testing.T) {
	full := cluster.Load{Demand: cluster.Resources{cluster.Cores: 16_000, cluster.Memory: 1024}}
	idle := cluster.Load{Demand: cluster.Resources{cluster.Cores: 0, cluster.Memory: 2048}}
	for kind, want := range map[ScoreKind]int{Raw: 0, PerDimension: 1, Norm: 1} {
		p := NewDodoor(&ScoreKnobs{Alpha: 0, Beta: 1, Kind: kind.String()})
		r := replicaWith(t, testConfig(), p, []cluster.Node{nodeOf("a", 16, 131072), nodeOf("b", 16, 131072)}, full, idle)
		for i := range 20 {
			if d := submit(t, r, 0, request(fmt.Sprint(i), 1, 512, 100)); d.Node != want {
				t.Fatalf("%v: placed on node %d, want %d", kind, d.Node, want)
			}
		}
	}
}

// Eq. 2: "score_a = (1−α)·rl_a/(rl_a+rl_c) + α·D̃_a/(D̃_a+D̃_c)".
func TestPaperEq2(t *testing.T) {
	if got, want := pairScore(0.25, 3, 1, 10, 30), 0.75*0.75+0.25*0.25; got != want {
		t.Errorf("score = %v, want %v", got, want)
	}
	for _, alpha := range []float64{0, 0.3, 0.5, 1} {
		if got := pairScore(alpha, 0, 0, 0, 0); math.Abs(got-0.5) > 1e-15 {
			t.Errorf("α=%v: two idle nodes score %v, want one half for both, never NaN", alpha, got)
		}
	}
}

// D̃ = D + d̂ on the candidate's own class: "per-server duration estimate d̂_{t,i}".
func TestPaperEstimatePerClass(t *testing.T) {
	cfg := testConfig()
	cfg.Types = append(cfg.Types, cluster.TaskType{Name: "f", Modes: []cluster.Mode{{Name: "short", PerClass: map[string]cluster.Shape{
		"slow": {Demand: cores(1), Duration: 900}, "fast": {Demand: cores(1), Duration: 100}}}}})
	slow, fast := nodeOf("a", 8, 65536), nodeOf("b", 8, 65536)
	slow.Class, fast.Class = "slow", "fast"
	p := NewDodoor(&ScoreKnobs{Alpha: 1, Beta: 1, Kind: "per-dimension"})
	r := replicaWith(t, cfg, p, []cluster.Node{slow, fast})
	for i := range 50 {
		d := submit(t, r, 0, &cluster.TaskSpec{ID: fmt.Sprint(i), Type: "f", Mode: "small"})
		if d.Node != 1 || d.Assignment.Shape.Duration != 100 {
			t.Fatalf("task %d went to node %d for %d ms; α = 1 must take the class that is faster", i, d.Node, d.Assignment.Shape.Duration)
		}
	}
}

// Algorithm 1, line 1: "sample two distinct candidates a,c ~ Uniform(N)".
func TestPaperTwoDistinctUniformCandidates(t *testing.T) {
	const n, draws = 10, 20000
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(n))
	first, second := make([]int, n), make([]int, n)
	for i := range draws {
		task := cluster.Task{ID: fmt.Sprint(i), Seed: cluster.HashID(fmt.Sprint(i)), Kind: &cluster.Kind{HasUniform: true}}
		rng := r.view.Draws(&task)
		a, _ := r.view.Draw(&task, rng, NoNode)
		c, _ := r.view.Draw(&task, rng, a)
		if a == c {
			t.Fatalf("task %d: both candidates are node %d", i, a)
		}
		first[a]++
		second[c]++
	}
	for i := range n {
		for _, count := range []int{first[i], second[i]} {
			// 6 standard deviations of a binomial(20000, 0.1).
			if math.Abs(float64(count)-draws/n) > 6*math.Sqrt(draws*0.1*0.9) {
				t.Errorf("node %d was drawn %d times of %d; uniform is %d", i, count, draws, draws/n)
			}
		}
	}
}

// Candidates are drawn uniformly from the feasible nodes, however few there are.
func TestCandidatesAreFeasible(t *testing.T) {
	nodes := paperNodes(100)
	nodes[41].Capacity[cluster.Memory], nodes[77].Capacity[cluster.Memory] = 1<<30, 1<<30
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	seen := map[int]int{}
	for i := range 400 {
		d := submit(t, r, 0, request(fmt.Sprint(i), 1, 1<<29, 100))
		seen[d.Node]++
	}
	if len(seen) != 2 || seen[41] < 100 || seen[77] < 100 {
		t.Errorf("placements %v; only nodes 41 and 77 have the memory, and both are idle in the view", seen)
	}
}

// Algorithm 1, line 3: "j ← a if score_a ≤ score_c, else j ← c": a tie goes to the first drawn.
func TestPaperTieGoesToTheFirstDrawn(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 65536), nodeOf("b", 8, 65536), nodeOf("c", 8, 65536)})
	for i := range 200 {
		id := fmt.Sprint(i)
		task := cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &cluster.Kind{HasUniform: true}}
		want, _ := r.view.Draw(&task, r.view.Draws(&task), NoNode)
		if d := submit(t, r, 0, request(id, 1, 100, 1000)); d.Node != want {
			t.Fatalf("task %s: equal nodes, first drawn is %d, placed on %d", id, want, d.Node)
		}
	}
}

// Lower score wins: against one loaded node, every pair that has an idle node picks it.
func TestPaperLowerScoreWins(t *testing.T) {
	busy := cluster.Load{Demand: cluster.Resources{8000, 1000}, Tasks: 4, Duration: 60000}
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 65536), nodeOf("b", 8, 65536)}, busy)
	for i := range 100 {
		if d := submit(t, r, 0, request(fmt.Sprint(i), 1, 100, 1000)); d.Node != 1 {
			t.Fatalf("task %d went to the loaded node", i)
		}
	}
}

// "α → 0 is resource balancing, α → 1 queue-duration sensitivity" (Sec. 3.2).
func TestPaperAlphaExtremes(t *testing.T) {
	full := cluster.Load{Demand: cluster.Resources{8000, 1000}, Duration: 10}   // full, but soon free
	long := cluster.Load{Demand: cluster.Resources{1000, 1000}, Duration: 9000} // nearly empty, but for long
	for _, c := range []struct {
		alpha float64
		want  int
	}{{0, 1}, {1, 0}} {
		p := NewDodoor(&ScoreKnobs{Alpha: c.alpha, Beta: 1, Kind: "per-dimension"})
		r := replicaWith(t, testConfig(), p, []cluster.Node{nodeOf("a", 8, 65536), nodeOf("b", 8, 65536)}, full, long)
		for i := range 50 {
			if d := submit(t, r, 0, request(fmt.Sprint(i), 1, 100, 100)); d.Node != c.want {
				t.Fatalf("α=%v: placed on node %d, want %d", c.alpha, d.Node, c.want)
			}
		}
	}
}

// With probability 1−β the first draw is taken: the (1+β) process.
func TestBetaTakesTheFirstDraw(t *testing.T) {
	busy := cluster.Load{Demand: cluster.Resources{8000, 1000}, Tasks: 4, Duration: 60000}
	for _, c := range []struct{ beta, share float64 }{{0, 0.5}, {0.5, 0.25}, {1, 0}} {
		p := NewDodoor(&ScoreKnobs{Alpha: 0.5, Beta: c.beta, Kind: "per-dimension"})
		r := replicaWith(t, testConfig(), p, []cluster.Node{nodeOf("a", 8, 65536), nodeOf("b", 8, 65536)}, busy)
		onBusy := 0
		const n = 4000
		for i := range n {
			if submit(t, r, 0, request(fmt.Sprint(i), 1, 100, 100)).Node == 0 {
				onBusy++
			}
		}
		if got := float64(onBusy) / n; math.Abs(got-c.share) > 0.05 {
			t.Errorf("β=%v: %.3f of the tasks on the busy node, want %.3f", c.beta, got, c.share)
		}
	}
}

// "We use task ID as the random seed" (Sec. 5): the same seed and ids give the same placements,
// whatever the order of arrival, and another run seed gives others.
func TestPaperTaskIDSeedsTheDraws(t *testing.T) {
	place := func(seed uint64, ids []string) map[string]int {
		cfg := testConfig()
		cfg.Seed = seed
		r := replicaWith(t, cfg, paperPolicy(t), paperNodes(100))
		placed := map[string]int{}
		for _, id := range ids {
			placed[id] = submit(t, r, 0, request(id, 1, 100, 100)).Node
		}
		return placed
	}
	var forward, backward []string
	for i := range 50 {
		forward = append(forward, fmt.Sprint(i))
		backward = append(backward, fmt.Sprint(49-i))
	}
	a, b, other := place(1, forward), place(1, backward), place(2, forward)
	different := 0
	for id := range a {
		if a[id] != b[id] {
			t.Errorf("task %s: node %d, in another order %d", id, a[id], b[id])
		}
		if a[id] != other[id] {
			different++
		}
	}
	if different < 25 {
		t.Errorf("another seed moved only %d of 50 tasks", different)
	}
}

func nodeOf(name string, coreCount, memory int64) cluster.Node {
	return cluster.Node{Name: name, Address: name + ":1", Class: "any", Slots: int(coreCount), Incarnation: 1,
		Capacity: cluster.Resources{cluster.Cores: coreCount * 1000, cluster.Memory: memory}}
}

func cores(n int64) cluster.Resources { return cluster.Resources{cluster.Cores: n * 1000} }

// A decision must allocate nothing and take well under a microsecond at n = 100; at n = 10,000 no more
// than twice that. What is learned of a task makes it hardly slower.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { decide(b, n, nil) })
		b.Run(fmt.Sprintf("n=%d/learned", n), func(b *testing.B) {
			decide(b, n, &cluster.Learned{Durations: []int64{300, 250, 400, 100}, Otherwise: 1000})
		})
	}
}

func decide(b *testing.B, n int, learned *cluster.Learned) {
	p := paperPolicy(b)
	r := replicaWith(b, testConfig(), p, paperNodes(n))
	for i := range r.view.nodes {
		r.view.nodes[i].Load = cluster.LoadOf(cluster.Shape{Demand: cluster.Resources{int64(1000 * (i % 7)), 1000}, Duration: int64(i % 13)})
	}
	tasks := make([]cluster.Task, 1024)
	for i := range tasks {
		id := fmt.Sprint(i)
		tasks[i] = cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &cluster.Kind{HasUniform: true, Learned: learned,
			Uniform: cluster.Shape{Demand: cluster.Resources{2000, 512}, Duration: 300}}}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Submit(time.Duration(i), &tasks[i%len(tasks)], r.view)
	}
}

func TestDecisionAllocatesNothing(t *testing.T) {
	p := paperPolicy(t)
	r := replicaWith(t, testConfig(), p, paperNodes(100))
	task := cluster.Task{ID: "x", Seed: 3, Kind: &cluster.Kind{HasUniform: true, Uniform: cluster.Shape{Demand: cores(1), Duration: 300},
		Learned: &cluster.Learned{Durations: make([]int64, 4), Otherwise: 1}}}
	if got := testing.AllocsPerRun(1000, func() { p.Submit(0, &task, r.view) }); got != 0 {
		t.Errorf("a decision allocates %v times", got)
	}
}
