package sim

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// The oracle knows how long a task runs: the longer, the more of the node is reserved by then.
func TestTheOracleKnowsInterference(t *testing.T) {
	shape := cluster.Shape{Demand: cluster.Resources{1000}, Duration: 1000}
	task := &cluster.Task{ID: "a", Kind: &cluster.Kind{TimeScale: 1, Uniform: shape, HasUniform: true}}
	for interference, want := range map[float64]time.Duration{0: time.Second, 0.5: 1250 * time.Millisecond} {
		cfg := tiny(t, Oracle, 1)
		cfg.Interference = interference
		o := &oracle{truth: start(t, cfg).truth}
		idle := &timeline{capacity: cluster.Resources{2000}, slots: 2}
		if got := o.duration(task, 0, &shape, idle, 0); got != want {
			t.Errorf("interference %v on half a node: %v, want %v", interference, got, want)
		}
	}
}

// What ends at a moment is not reserved at that moment.
func TestSharesOfATimeline(t *testing.T) {
	l := &timeline{capacity: cluster.Resources{4000}, slots: 4}
	l.place(0, 0, 10, cluster.Resources{2000})
	l.place(0, 0, 20, cluster.Resources{1000})
	for at, want := range map[time.Duration]float64{9: 1, 10: 0.5, 20: 0.25} {
		if got := l.share(at, &cluster.Resources{1000}); got != want {
			t.Errorf("at %d: %v of the node, want %v", at, got, want)
		}
	}
}

// Of two that end at one moment, the one that started first ends first, and its device goes to the head of
// the line: then 0.6 beside 0.4 leave 0.7 beside 0.3.
func TestDevicesOfEqualEnds(t *testing.T) {
	gpus := func(thousandths int64) cluster.Resources { return cluster.Resources{cluster.FirstExtra: thousandths} }
	capacity := gpus(2000)
	l := &timeline{capacity: capacity, slots: 9, devices: cluster.NewDevices(&capacity)}
	for _, task := range []struct {
		demand      int64
		start, ends time.Duration
	}{{500, 0, 10}, {400, 0, 99}, {500, 0, 10}, {300, 0, 99}, {600, 10, 99}, {700, 10, 99}} {
		demand := gpus(task.demand)
		if start := l.start(0, &demand); start != task.start {
			t.Fatalf("%d thousandths start at %d, want %d", task.demand, start, task.start)
		}
		l.place(0, task.start, task.ends, demand)
	}
}

// It looks behind nodes that cannot take a task, and a placement arrives after it was sent.
func TestTheOracleLooksAtEveryNode(t *testing.T) {
	cfg := tiny(t, Oracle, 3)
	cfg.Network.Delay = 10 * time.Millisecond
	s := start(t, cfg)
	if stopped, err := s.run(); stopped || err != nil {
		t.Fatal(stopped, err)
	}
	v, o := s.schedulers[0].replica.View(), &oracle{truth: newTruth(s)}
	shape := cluster.Shape{Demand: cluster.Resources{2000}, Duration: 1000}
	task := &cluster.Task{ID: "a", Kind: &cluster.Kind{TimeScale: 1, Uniform: shape, HasUniform: true}}
	for _, want := range []time.Duration{1010, 2010, 3010} { // node 2 is away, too
		task.Tried = &cluster.Tried{Node: 0, Earlier: &cluster.Tried{Node: 2}}
		decision := o.Submit(time.Second, task, v)
		if len(decision.Place) != 1 || decision.Place[0].Node != 1 {
			t.Fatalf("%+v, want node 1", decision)
		}
		if got := o.node(v, 1).last; got != want*time.Millisecond {
			t.Errorf("it starts at %v, want %v", got, want*time.Millisecond)
		}
	}
}

// All messages of a run are counted, of whatever kind: at least a submission, a placement and a completion per task.
func TestMessagesAreCounted(t *testing.T) {
	result, err := Run(tiny(t, "dodoor", 3).with(t, 20))
	if err != nil || result.Messages < 60 {
		t.Errorf("%d messages for 20 tasks, %v", result.Messages, err)
	}
}

// Who waits for an answer waits a hundred times as long as the slowest message takes.
func TestPatienceOfTheNetwork(t *testing.T) {
	n := Network{Delay: 2, Scheduler: Station{Cost: 1}, Data: Station{Cost: 3}, Worker: Station{Cost: 2}}
	if got := n.patience(); got != 500 {
		t.Errorf("%d, want 500", got)
	}
}
