package scheduler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// plusCluster is a replica with n nodes of the paper's four classes; every fifth is at home here.
func plusCluster(t testing.TB, n int, k *PlusKnobs, loads ...cluster.Load) (*Replica, Policy) {
	t.Helper()
	policy := newPlus(*k)
	return replicaOf(t, n, policy, loads...), policy
}

func replicaOf(t testing.TB, n int, policy Policy, loads ...cluster.Load) *Replica {
	t.Helper()
	r, err := New(Config{Name: "s0", Incarnation: 1, Seed: 1, DeltaBatch: 8, MaxAttempts: 3, MaxPending: 1 << 20, RetainResults: 1 << 20,
		RetainFor: time.Hour, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated"}}}, policy)
	if err != nil {
		t.Fatal(err)
	}
	cores := []int64{8, 10, 16, 28}
	s := &cluster.Snapshot{Incarnation: 1, Version: 1, RosterVersion: 1, ReceiverIncarnation: 1,
		Roster: &cluster.Roster{Version: 1, Schedulers: []string{"s0", "s1", "s2", "s3", "s4"}}}
	for i := range n {
		c := cores[i%4]
		s.Roster.Nodes = append(s.Roster.Nodes, cluster.Node{Name: fmt.Sprint("w", i), Class: fmt.Sprint("c", i%4), Slots: int(c), Incarnation: 1,
			Capacity: cluster.Resources{c * 1000, 65536}})
		s.Roster.Home = append(s.Roster.Home, int32(i%5))
		s.Node = append(s.Node, int32(i))
		load := cluster.Load{}
		if i < len(loads) {
			load = loads[i]
		}
		s.Load, s.OwnNumber, s.ReportSequence = append(s.Load, load), append(s.OwnNumber, 0), append(s.ReportSequence, 0)
	}
	if _, err := r.Push(0, s); err != nil {
		t.Fatal(err)
	}
	return r
}

func unitTask(id string, cores, duration int64) *cluster.Task {
	return &cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &cluster.Kind{HasUniform: true, TimeScale: 1,
		Uniform: cluster.Shape{Demand: cluster.Resources{cores * 1000, 100}, Duration: duration}}}
}

// "ECT_i = d̂ if L_i + r fits C_i in every dimension and a slot is free, else wait_i + d̂".
func TestExpectedCompletionTime(t *testing.T) {
	full := cluster.Load{Demand: cluster.Resources{8000, 32768}, Tasks: 4, Duration: 8000, Work: 16_000_000}
	r := replicaOf(t, 8, &ECT{samples: 1}, cluster.Load{}, cluster.Load{}, cluster.Load{}, cluster.Load{}, full)
	task := unitTask("a", 2, 1000)
	if got := (ectScore{}).of(r.View(), task, 0); math.Abs(got-1000*(1+emptier*0.25)) > 1e-9 {
		t.Errorf("idle node: %v; a quarter of its cores would be in use", got)
	}
	// W/C = 16e6/8000 = 2000; D/slots = 8000/8 = 1000; memory: 0.5 · 8000/4 = 1000.
	if got := (ectScore{}).of(r.View(), task, 4); got != 3000 {
		t.Errorf("full node: %v, want the 2000 ms of its tightest resource and the task's 1000", got)
	}
	// From L, D and N alone, W is L_cores · D/N = 8000 · 2000.
	if got := (ectScore{fromLDN: true}).of(r.View(), task, 4); got != 3000 {
		t.Errorf("full node from L, D, N: %v, want 3000", got)
	}
	busySlots := cluster.Load{Tasks: 8, Duration: 4000, Work: 0}
	r = replicaOf(t, 4, &ECT{samples: 1}, busySlots)
	if got := (ectScore{}).of(r.View(), task, 0); got != 1000+500 {
		t.Errorf("node without a free slot: %v, want D/slots = 500 ms and the task's 1000", got)
	}
}

func place(t testing.TB, p Policy, r *Replica, task *cluster.Task) int {
	t.Helper()
	decision := p.Submit(0, task, r.View())
	if len(decision.Place) != 1 {
		t.Fatalf("decision %+v: want one placement", decision)
	}
	return decision.Place[0].Node
}

// A home node wins unless a foreign one is better by the gain.
func TestHomeFirst(t *testing.T) {
	busy := func(ms int64) []cluster.Load {
		loads := make([]cluster.Load, 20)
		for i := 0; i < 20; i += 5 { // the home nodes of s0
			loads[i] = cluster.Load{Demand: cluster.Resources{28000, 0}, Tasks: 28, Duration: 28 * ms, Work: 28000 * ms}
		}
		return loads
	}
	for _, c := range []struct {
		name  string
		loads []cluster.Load
		home  float64 // share of tasks that stay at home
	}{{"idle homes", nil, 1}, {"homes a little busy", busy(20), 1}, {"homes very busy", busy(60000), 0}} {
		r, p := plusCluster(t, 20, DefaultPlus(), c.loads...)
		home := 0
		for i := range 200 {
			if r.View().Node(place(t, p, r, unitTask(fmt.Sprint(i), 1, 1000))).Home {
				home++
			}
		}
		if got := float64(home) / 200; got != c.home {
			t.Errorf("%s: %.2f of the tasks stay at home, want %.2f", c.name, got, c.home)
		}
	}
}

// Each part can be switched off: without homes only samples count, with foreign = 0 homes alone, with
// ties off the same node wins every time.
func TestSwitches(t *testing.T) {
	cfg := DefaultPlus()
	cfg.Home = false
	r, p := plusCluster(t, 20, cfg)
	away := 0
	for i := range 200 {
		if !r.View().Node(place(t, p, r, unitTask(fmt.Sprint(i), 1, 1000))).Home {
			away++
		}
	}
	if away < 120 {
		t.Errorf("without homes %d of 200 tasks leave the home nodes, which are a fifth", away)
	}
	partition := PartitionPolicy.New(nil)
	r = replicaOf(t, 20, partition, cluster.Load{Tasks: 100, Duration: 1e9, Work: 1e15})
	for i := range 100 {
		if !r.View().Node(place(t, partition, r, unitTask(fmt.Sprint(i), 1, 1000))).Home {
			t.Fatal("partition left its home nodes")
		}
	}
	for ties, want := range map[bool]int{true: 4, false: 1} {
		cfg := DefaultPlus()
		cfg.Ties, cfg.Foreign = ties, 0
		policy := newPlus(*cfg)
		loads := make([]cluster.Load, 20)
		r := replicaOf(t, 20, policy, loads...)
		seen := map[int]bool{}
		for i := range 300 {
			// A demand that takes next to nothing of any node: all home nodes tie.
			seen[place(t, policy, r, &cluster.Task{ID: fmt.Sprint(i), Seed: uint64(i) * 7919, Kind: &cluster.Kind{HasUniform: true,
				Uniform: cluster.Shape{Demand: cluster.Resources{1}, Duration: 1000}}})] = true
		}
		if ties && len(seen) != want {
			t.Errorf("random ties: %d home nodes used of 4", len(seen))
		}
		if !ties && len(seen) > want {
			t.Errorf("no random ties: %d home nodes used, the best one is one", len(seen))
		}
	}
}

// Capacity-weighted samples take large nodes more often, exactly in proportion.
func TestWeightedSampling(t *testing.T) {
	r := replicaOf(t, 20, &ECT{samples: 1})
	task := unitTask("a", 1, 1000)
	v := r.View()
	counts := map[string]float64{}
	const n = 60000
	draws := v.Draws(task)
	for range n {
		i, ok := v.DrawWeighted(task, draws)
		if !ok {
			t.Fatal("nothing drawn")
		}
		counts[v.Node(i).Name[:1]+fmt.Sprint(v.Node(i).Slots)]++
	}
	for slots, share := range map[int]float64{8: 8.0 / 62, 10: 10.0 / 62, 16: 16.0 / 62, 28: 28.0 / 62} {
		if got := counts["w"+fmt.Sprint(slots)] / n; math.Abs(got-share) > 0.012 {
			t.Errorf("nodes of %d cores: %.4f of the draws, want %.4f", slots, got, share)
		}
	}
}

// A scheduler that gets more than its share looks at more foreign nodes.
func TestAdaptiveForeignCount(t *testing.T) {
	r, policy := plusCluster(t, 100, DefaultPlus())
	p := policy.(*DodoorPlus)
	v := r.View()
	for share, want := range map[float64]int{0: 4, 0.2: 4, 0.1: 4, 0.4: 8, 1: 16} {
		v.Share = share
		if got := p.foreignCount(v); got != want {
			t.Errorf("share %v of 5 schedulers: %d foreign nodes, want %d", share, got, want)
		}
	}
}

// A decision at n = 100, S = 5 stays under 2 µs, at n = 10,000 under 5 µs, without allocation.
func BenchmarkDodoorPlus(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			loads := make([]cluster.Load, n)
			for i := range loads {
				loads[i] = cluster.Load{Demand: cluster.Resources{int64(i%9) * 1000, 100}, Tasks: int64(i % 9), Duration: int64(i%9) * 1000,
					Work: int64(i%9) * 1_000_000}
			}
			r, p := plusCluster(b, n, DefaultPlus(), loads...)
			tasks := make([]*cluster.Task, 512)
			for i := range tasks {
				tasks[i] = unitTask(fmt.Sprint(i), 2, 1000)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Submit(0, tasks[i%len(tasks)], r.View())
			}
		})
	}
}

func TestPlusDecisionAllocatesNothing(t *testing.T) {
	r, p := plusCluster(t, 100, DefaultPlus())
	task := unitTask("a", 2, 1000)
	if got := testing.AllocsPerRun(1000, func() { p.Submit(0, task, r.View()) }); got != 0 {
		t.Errorf("a decision allocates %v times", got)
	}
}
