package baselines

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/scheduler"
)

func TestAnUnknownNameListsTheKnownOnes(t *testing.T) {
	_, err := New("doodoor", DefaultKnobs())
	if err == nil {
		t.Fatal("a misspelt policy was accepted")
	}
	for _, name := range append(Names(), `"doodoor"`) {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not mention %s", err, name)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	names := Names()
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("a policy is listed twice: %v", names)
	}
}

func TestKnobsOutOfRangeAreRefused(t *testing.T) {
	for _, c := range []struct {
		policy, knob string
		set          func(*Knobs)
	}{
		{"dodoor", "alpha", func(k *Knobs) { k.Alpha = 2 }},
		{"dodoor", "score", func(k *Knobs) { k.Score = "" }},
		{"oneplusbeta", "beta", func(k *Knobs) { k.Beta = math.NaN() }},
		{"oneplusbeta", "beta", func(k *Knobs) { k.Beta = 1.1 }},
		{"yarp", "period", func(k *Knobs) { k.Yarp.Period = 0 }},
		{"prequal", "latency", func(k *Knobs) { k.Prequal.Latency = "median" }},
		{"prequal", "reuse", func(k *Knobs) { k.Prequal.Reuse = 0.5 }},
		{"prequal", "reuse", func(k *Knobs) { k.Prequal.Reuse = 17 }},
		{"prequal", "reuse", func(k *Knobs) { k.Prequal.Reuse = math.NaN() }},
		{"prequal", "age_limit", func(k *Knobs) { k.Prequal.MaxAge = 0 }},
		{"prequal", "pool", func(k *Knobs) { k.Prequal.Pool = 1 }},
		{"prequal", "pool", func(k *Knobs) { k.Prequal.Pool = 1 << 20 }},
		{"prequal", "q_rif", func(k *Knobs) { k.Prequal.Quantile = 1.5 }},
		{"prequal", "probes", func(k *Knobs) { k.Prequal.Probes = 0 }},
		{"prequal", "probes", func(k *Knobs) { k.Prequal.Probes = 17 }},
		{"prequal", "probes", func(k *Knobs) { k.Prequal.Probes = math.NaN() }},
		{"prequal", "remove", func(k *Knobs) { k.Prequal.Removals = -1 }},
		{"prequal", "remove", func(k *Knobs) { k.Prequal.Removals = math.Inf(1) }},
		{"prequal", "delta", func(k *Knobs) { k.Prequal.Delta = math.NaN() }},
	} {
		k := DefaultKnobs()
		c.set(&k)
		_, err := New(c.policy, k)
		if err == nil || !strings.Contains(err.Error(), "policy "+c.policy) || !strings.Contains(err.Error(), c.knob+" = ") {
			t.Errorf("%s with a wrong %s: error %v", c.policy, c.knob, err)
		}
	}
}

// scene drives a policy with tasks and ticks, and answers every probe with a load that the node's own
// placements explain.
type scene struct {
	replica *scheduler.Replica
	policy  scheduler.Policy
	placed  map[string]int
	load    []int64
}

func newScene(t *testing.T, policy string, nodes int) *scene {
	p := newPolicy(t, policy)
	return &scene{replica: newReplica(t, testConfig(), p, equalNodes(nodes)), policy: p, placed: map[string]int{}, load: make([]int64, nodes)}
}

func (s *scene) carryOut(now time.Duration, ready *scheduler.Ready) {
	probes := slices.Clone(ready.Probe)
	for _, d := range ready.Send {
		s.placed[d.Assignment.TaskID] = d.Node
		s.load[d.Node]++
	}
	for _, p := range probes {
		s.carryOut(now, s.replica.Probed(now, scheduler.Probe{Task: p.Task, Node: p.Node, Answer: tasks(s.load[p.Node])}))
	}
}

func (s *scene) run(t *testing.T, n int) {
	for i := range n {
		now := time.Duration(i) * 20 * time.Millisecond
		s.carryOut(now, s.replica.Tick(now))
		ready, refusal := s.replica.Submit(now, "client", request(i))
		if refusal != nil {
			t.Fatal(refusal)
		}
		s.carryOut(now, ready)
	}
}

// "We use task ID as the random seed" (Sec. 5): the same seed, ids and answers place every task on the
// same node, under every policy.
func TestPaperPlacementsAreDeterministic(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			first, second := newScene(t, name, 50), newScene(t, name, 50)
			first.run(t, 500)
			second.run(t, 500)
			if len(first.placed) != 500 {
				t.Fatalf("%d of 500 tasks were placed", len(first.placed))
			}
			for id, node := range first.placed {
				if second.placed[id] != node {
					t.Fatalf("task %s: node %d, and in the same run again %d", id, node, second.placed[id])
				}
			}
		})
	}
}

// A task that no node can run is refused by every policy, and nothing is probed for it.
func TestAnInfeasibleTaskIsRefused(t *testing.T) {
	for _, name := range Names() {
		p := newPolicy(t, name)
		v := viewOf(t, 20, p)
		for i := range 30 {
			if s := p.Submit(0, taskOf(i, 9), v); len(s.Place)+len(s.Probe) > 0 {
				t.Errorf("%s: %+v for a task of 9 cores on nodes with 8", name, s)
			}
		}
	}
}

// Candidates are feasible nodes only, and a single one is enough.
func TestOneFeasibleNodeGetsTheTask(t *testing.T) {
	for _, name := range Names() {
		p := newPolicy(t, name)
		nodes := equalNodes(20)
		nodes[13] = node("large", 64)
		v := newReplica(t, testConfig(), p, nodes).View()
		for i := range 30 {
			if got := placedOn(t, p.Submit(0, taskOf(i, 9), v)); got != 13 {
				t.Errorf("%s: placed on node %d, which cannot run the task", name, got)
			}
		}
	}
}

// The paper's messages per task beyond the submission (Sec. 6.1): none for random, 2 probes for PoT,
// r_probe = 3 for Prequal; and for policies with a cache none at all.
func TestPaperProbesPerTask(t *testing.T) {
	want := map[string]int{"pot": 2, "prequal": 3}
	for _, name := range Names() {
		p := newPolicy(t, name)
		v := viewOf(t, 100, p)
		for i := range 20 {
			if got := len(p.Submit(0, unit(i), v).Probe); got != want[name] {
				t.Errorf("%s: %d probes for a task, want %d", name, got, want[name])
			}
		}
	}
}

// A decision from the cache allocates nothing.
func TestCachedDecisionsAllocateNothing(t *testing.T) {
	for _, name := range append(Names(), "a policy of one's own") {
		p := scheduler.Policy(&freestOfThree{})
		if slices.Contains(Names(), name) {
			p = newPolicy(t, name)
		}
		if !p.Cached() {
			continue
		}
		v, task := viewOf(t, 100, p), unit(3)
		if got := testing.AllocsPerRun(1000, func() { p.Submit(0, task, v) }); got != 0 {
			t.Errorf("%s: a decision allocates %v times", name, got)
		}
	}
}

func BenchmarkDecision(b *testing.B) {
	for _, name := range Names() {
		for _, n := range []int{100, 10000} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				p := newPolicy(b, name)
				v := viewOf(b, n, p)
				task := unit(1)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					task.Seed = uint64(i)
					for _, call := range p.Submit(time.Duration(i), task, v).Probe {
						p.Probed(time.Duration(i), scheduler.Probe{Task: call.Task, Node: call.Node, Answer: tasks(int64(i % 7))}, v)
					}
				}
			})
		}
	}
}
