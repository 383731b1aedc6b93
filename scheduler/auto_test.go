package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// limited is the end of a run under control groups: of a program that would use so many millicores.
func limited(program, limit int64) *cluster.Completion {
	return endedWith(cluster.Finished, 10*time.Second*time.Duration(min(program, limit))/1000, 10)
}

// Under limits nothing uses more than those, and still the cores follow what a program would use: up in a few runs, also when it
// was small for long, or when that is so for one in ten only, and down again.
func TestCoresFollowUseUnderLimits(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	n, a := x.name("sim"), x.classes.Class("a")
	cores := int64(1000)
	run := func(runs int, program func(i int) int64) {
		for i := range runs {
			x.needed(n, a, limited(program(i), cores), need{cores: cores})
			cores, _ = n.needs()
		}
	}
	steady := func(program int64) func(int) int64 { return func(int) int64 { return program } }
	for _, c := range []struct {
		what     string
		runs     int
		program  func(int) int64
		from, to int64
	}{
		{"four threads, at first", 3, steady(4000), 4500, 8000},
		{"four threads, in the end", 40, steady(4000), 4500, 4500},
		{"a tenth of a core", 40, steady(100), 150, 150},
		{"two cores", 12, steady(2000), 2250, 5000},
		{"two cores, in the end", 100, steady(2000), 2250, 2250},
		{"a tenth of a core again", 40, steady(100), 150, 150},
		{"one in ten takes two cores", 200, func(i int) int64 { return []int64{2000, 100}[min(i%10, 1)] }, 2250, 5000},
	} {
		if run(c.runs, c.program); cores < c.from || cores > c.to {
			t.Errorf("%s: %d millicores, want %d to %d", c.what, cores, c.from, c.to)
		}
	}
}

// What an execution died of having no more than is remembered for long, and shared, and halves once none has died for longer.
func TestMemoryThatIsRarelyNeeded(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	n, a := x.name("sim"), x.classes.Class("a")
	want := func(want int64) {
		t.Helper()
		if _, memory := n.needs(); memory != want {
			t.Errorf("%d MiB, want %d", memory, want)
		}
	}
	small := func(runs int) {
		for range runs {
			x.needed(n, a, endedWith(cluster.Finished, time.Second, 100), need{})
		}
	}
	x.needed(n, a, oom(4000), need{memory: 4000})
	small(floorHolds - 1)
	want(8000)
	if told := x.take(); told[0].Memory != 8000 {
		t.Errorf("%+v", told)
	}
	x.needed(n, a, oom(100), need{memory: 100})
	small(floorHolds - 1)
	want(8000)
	small(1)
	want(4000)
	small(20 * floorHolds)
	want(125)
}

// A process goes on from what the one before it said, which its first entry replaces.
func TestNeedsOutliveAProcess(t *testing.T) {
	x := tableOf(t, "s1", 2, Learned)
	x.merge([]cluster.Experience{{Scheduler: "s1", Incarnation: 1, Name: "sim", Class: "b", Number: 9, Cores: 3000, Memory: 900}})
	n, a := x.name("sim"), x.classes.Class("a")
	x.ran(n, a, 1000, 0, 0)
	x.needed(n, a, endedWith(cluster.Finished, time.Second, 10), need{})
	if cores, memory := n.needs(); cores != 3000 || memory != 900 {
		t.Errorf("%d millicores, %d MiB", cores, memory)
	}
	if told := x.take(); told[0].Cores != 3000 || told[0].Memory != 900 {
		t.Errorf("told %+v", told)
	}
	for range floorHolds {
		x.needed(n, a, endedWith(cluster.Finished, time.Second, 10), need{})
	}
	if cores, memory := n.needs(); cores != 150 || memory != 450 {
		t.Errorf("later: %d millicores, %d MiB", cores, memory)
	}
}

// autoOn is a learning replica with nodes of so many cores and MiB, which were told that a name needs 64 cores and 50,000 MiB.
func autoOn(t *testing.T, capacities ...need) *Replica {
	t.Helper()
	var nodes []cluster.Node
	for i, c := range capacities {
		n := nodeOf(string(rune('a'+i)), 1, 1)
		n.Capacity[cluster.Cores], n.Capacity[cluster.Memory] = c.cores, c.memory
		nodes = append(nodes, n)
	}
	cfg := testConfig()
	cfg.Estimates = Learned
	large := cluster.Shape{Demand: cluster.Resources{4000, 8192}, Duration: 1000}
	cfg.Types = append(cfg.Types, cluster.TaskType{Name: "f", Modes: []cluster.Mode{{Name: "default", Default: &large},
		{Name: "elsewhere", PerClass: map[string]cluster.Shape{"other": large}}}})
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	r.experience.merge([]cluster.Experience{{Scheduler: "s2", Incarnation: 1, Name: "sim", Class: "other", Number: 1, Cores: 64_000,
		Memory: 50_000}})
	return r
}

// Experience never asks for more than some node has, of everything at once: memory first, as a task dies without it.
func TestWhatIsLearnedFitsANode(t *testing.T) {
	for _, c := range []struct {
		nodes []need
		want  need
	}{
		{[]need{{8000, 100_000}}, need{8000, 50_000}},
		{[]need{{64_000, 1000}, {2000, 60_000}}, need{2000, 50_000}},
		{[]need{{64_000, 1000}, {2000, 60_000}, {4000, 50_000}}, need{4000, 50_000}},
		{[]need{{8000, 1000}, {4000, 1000}}, need{8000, 1000}},
		{[]need{{2000, 1000}, {64_000, 50_000}}, need{64_000, 50_000}},
	} {
		demand := placedAuto(t, autoOn(t, c.nodes...), 1).Assignment.Shape.Demand
		if got := (need{demand[cluster.Cores], demand[cluster.Memory]}); got != c.want {
			t.Errorf("%v: %v, want %v", c.nodes, got, c.want)
		}
	}
}

// Without a node there is nothing to hold it to: a demand of no memory would be no limit.
func TestWhatIsLearnedWithoutNodes(t *testing.T) {
	r := autoOn(t)
	b := &batch{named: r.experience.name("sim"), auto: auto{true, true}}
	if r.learn(b); b.Uniform.Demand != (cluster.Resources{64_000, 50_000}) {
		t.Errorf("%v", b.Uniform.Demand)
	}
}

// Of a type with a profile, only what is learned differs from the default of its mode, and it runs on no other classes than before.
func TestWhatIsLearnedOfAProfile(t *testing.T) {
	r := autoOn(t, need{64_000, 100_000})
	spec := func(id, mode string) *cluster.TaskSpec {
		return &cluster.TaskSpec{ID: id, Type: "f", Mode: mode, LearnCores: true, TimeScale: 1}
	}
	first := submit(t, r, 0, spec("a", "default"))
	if first.Assignment.Shape.Demand != (cluster.Resources{4000, 8192}) {
		t.Errorf("at first: %v", first.Assignment.Shape.Demand)
	}
	own := spec("own", "default")
	own.Demand = &cluster.Resources{1, 500}
	if early := submit(t, r, 0, own); early.Assignment.Shape.Demand != (cluster.Resources{4000, 500}) {
		t.Errorf("at first, with memory of its own: %v", early.Assignment.Shape.Demand)
	}
	ends(t, r, first, endedWith(cluster.Finished, 20*time.Second, 100))
	if second := submit(t, r, 0, spec("b", "default")); second.Assignment.Shape.Demand != (cluster.Resources{2250, 8192}) {
		t.Errorf("then: %v", second.Assignment.Shape.Demand)
	}
	own.ID = "c"
	if third := submit(t, r, 0, own); third.Assignment.Shape.Demand != (cluster.Resources{2250, 500}) {
		t.Errorf("with memory of its own: %v", third.Assignment.Shape.Demand)
	}
	if _, refusal := r.Submit(0, "client", spec("d", "elsewhere")); refusal == nil || refusal.Code != cluster.NoFeasibleNode {
		t.Errorf("of a class that is not here: %v", refusal)
	}
	plain := submit(t, r, 0, &cluster.TaskSpec{ID: "e", Type: "simulated", LearnCores: true, TimeScale: 1})
	if plain.Assignment.Shape.Demand != (cluster.Resources{1000}) {
		t.Errorf("without a profile: %v", plain.Assignment.Shape.Demand)
	}
}

// An execution that was given up, and dies of its limit after the task has got more elsewhere, says nothing of what it has got.
func TestALateDeathOfALowerLimit(t *testing.T) {
	r := learning(t, Learned)
	r.experience.merge([]cluster.Experience{{Scheduler: "s2", Incarnation: 1, Name: "sim", Class: "m510", Number: 1, Memory: 100}})
	first := placedAuto(t, r, 1)
	second := r.NodeDown(time.Second, first.Node, 1, first.Assignment.Number).Send[0]
	third := ends(t, r, second, oom(100)).Send[0]
	ends(t, r, first, oom(100))
	if _, memory := r.experience.name("sim").needs(); memory != 200 || third.Assignment.Shape.Demand[cluster.Memory] != 200 {
		t.Errorf("%d MiB are needed, %v demanded, want 200", memory, third.Assignment.Shape.Demand)
	}
}
