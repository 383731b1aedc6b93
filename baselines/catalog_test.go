package baselines

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/scheduler"
)

func TestAnUnknownNameListsTheKnownOnes(t *testing.T) {
	_, err := New("doodoor", nil, 1)
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

// What a table allows is what its policies take: a value outside the range of a knob is refused by name.
func TestKnobsOutOfRangeAreRefused(t *testing.T) {
	wrong := func(k *scheduler.Knob) []any {
		high := k.Range.High
		switch k.Value.(type) {
		case *float64:
			if k.Range.Above {
				return []any{k.Range.Low, high + 0.1, math.NaN()}
			}
			return []any{-0.1, high + 0.1, math.NaN(), math.Inf(1)}
		case *int:
			return []any{int(k.Range.Low) - 1, int(high) + 1}
		case *time.Duration:
			return []any{-time.Second, time.Microsecond, 10000 * time.Hour}
		case *string:
			return []any{"", "magic"}
		}
		return nil
	}
	for _, p := range catalog() {
		if p.Knobs == nil {
			continue
		}
		for i, knob := range p.Knobs().Table().Knobs {
			for _, value := range wrong(&knob) {
				knobs := p.Knobs()
				k := knobs.Table().Knobs[i]
				reflect.ValueOf(k.Value).Elem().Set(reflect.ValueOf(value))
				_, err := New(p.Name, scheduler.Settings{knobs}, 1)
				if err == nil || !strings.HasPrefix(err.Error(), "policy "+p.Name+": ") || !strings.Contains(err.Error(), "."+k.Key+" must be ") {
					t.Errorf("%s with %s = %v: %v", p.Name, k.Key, value, err)
				}
			}
		}
	}
}

// Some knobs are bounded by others.
func TestKnobsThatLimitEachOther(t *testing.T) {
	s := Defaults()
	prequalOf(s).Probes, prequalOf(s).Pool = 5, 4
	if _, err := New("prequal", s, 1); err == nil || !strings.Contains(err.Error(), "prequal.probes must be above 0 and at most 4, found 5") {
		t.Errorf("more probes than the pool holds: %v", err)
	}
	plus := s.Find("dodoor_plus").(*scheduler.PlusKnobs)
	plus.Home, plus.Foreign = false, 0
	if _, err := New("dodoor+", s, 1); err == nil || !strings.Contains(err.Error(), "nothing would be compared") {
		t.Errorf("neither home nor foreign nodes: %v", err)
	}
}

// Times are trace time: on a cluster that runs 100 times as fast, a poll is due 100 times as soon.
func TestTimesAreTraceTime(t *testing.T) {
	p, err := New("yarp", nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.(*yarp).period; got != 5*time.Millisecond {
		t.Errorf("500 ms at a time scale of 100 are %v", got)
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

func (s *scene) perform(now time.Duration, actions *scheduler.Actions) {
	probes := slices.Clone(actions.Probe)
	for _, d := range actions.Send {
		s.placed[d.Assignment.TaskID] = d.Node
		s.load[d.Node]++
	}
	for _, p := range probes {
		s.perform(now, s.replica.Probed(now, scheduler.Probe{Task: p.Task, Node: p.Node, Answer: tasks(s.load[p.Node])}))
	}
}

func (s *scene) run(t *testing.T, n int) {
	for i := range n {
		now := time.Duration(i) * 20 * time.Millisecond
		s.perform(now, s.replica.Tick(now))
		actions, refusal := s.replica.Submit(now, "client", request(i))
		if refusal != nil {
			t.Fatal(refusal)
		}
		s.perform(now, actions)
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
		if p.Wants().Loads == scheduler.Unread {
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
						p.(scheduler.Prober).Probed(time.Duration(i), scheduler.Probe{Task: call.Task, Node: call.Node, Answer: tasks(int64(i % 7))}, v)
					}
				}
			})
		}
	}
}
