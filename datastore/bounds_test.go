package datastore_test

import (
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// A claim beyond reason is refused and changes nothing: the total must not overflow.
func TestAbsurdDecisionCountsAreRefused(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	for _, decisions := range []int64{1<<63 - 1, 1<<50 + 1, -1} {
		if _, err := s.Flush(0, delta("s", 1, decisions)); cluster.CodeOf(err) != cluster.Invalid {
			t.Errorf("%d decisions: %v, want invalid", decisions, err)
		}
	}
	if flush(t, s, delta("s", 1, 3)); s.Decisions() != 3 {
		t.Errorf("%d decisions, want 3", s.Decisions())
	}
}

// A name whose clock was once ahead is free again when nobody holds it, and what is kept of schedulers
// that stay away is forgotten.
func TestDepartedSchedulersAreForgotten(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, 0, workerNode("a", "a:1", 1))
	registerScheduler(t, s, "s", 1<<60)
	if _, err := s.RegisterScheduler(cluster.SchedulerRef{Name: "s", Incarnation: 5}); cluster.CodeOf(err) != cluster.Stale {
		t.Errorf("an older process beside a newer one: %v, want stale", err)
	}
	s.UnregisterScheduler("s", 1<<60)
	registerScheduler(t, s, "s", 5)
	flush(t, s, delta("s", 5, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1, Placed: cluster.Load{Tasks: 1}}))
	s.UnregisterScheduler("s", 5)
	for minute := range 60 {
		now := time.Duration(minute) * time.Minute
		if err := s.Report(now, &cluster.Report{Node: "a", Incarnation: 1, Sequence: int64(minute + 1)}); err != nil {
			t.Fatal(err)
		}
		s.Tick(now)
	}
	if err := s.CheckScheduler(0, "s", 5); cluster.CodeOf(err) != cluster.UnknownScheduler {
		t.Errorf("%v, want unknown", err)
	}
	registerScheduler(t, s, "s", 4)
	before := s.Decisions()
	if flush(t, s, delta("s", 4, 2)); s.Decisions() != before+2 {
		t.Errorf("the forgotten scheduler's count was not forgotten: %d, want %d", s.Decisions(), before+2)
	}
}

// A worker that could run nothing is refused.
func TestUselessNodesAreRefused(t *testing.T) {
	s := newStore(t, datastore.Config{})
	for _, change := range []func(n *cluster.Node){
		func(n *cluster.Node) { n.Capacity = cluster.Resources{} }, func(n *cluster.Node) { n.Slots = 0 },
	} {
		n := workerNode("a", "a:1", 1)
		change(&n)
		if err := s.RegisterNode(0, n); cluster.CodeOf(err) != cluster.Invalid {
			t.Errorf("%+v: %v, want invalid", n, err)
		}
	}
}
