package datastore_test

import (
	"slices"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// placed is what a scheduler has placed on a worker process: as many tasks as its number says, of 10 ms each.
func placed(node string, incarnation, number int64) cluster.Placed {
	return cluster.Placed{Node: node, NodeIncarnation: incarnation, Number: number, Placed: tasks(number)}
}

func tasks(n int64) cluster.Load { return cluster.Load{Tasks: n, Duration: 10 * n} }

// report merges a report of worker a, incarnation 1, which holds nothing.
func report(t *testing.T, s *datastore.Store, sequence int64, received ...cluster.Received) {
	t.Helper()
	if err := s.Report(0, &cluster.Report{Node: "a", Incarnation: 1, Sequence: sequence, Received: received}); err != nil {
		t.Fatal(err)
	}
}

// aggregate fails unless a node's aggregate is as many tasks.
func aggregate(t *testing.T, s *datastore.Store, now time.Duration, node string, want int64) {
	t.Helper()
	for _, n := range s.Status(now).Nodes {
		if n.Node.Name == node {
			if n.Load != tasks(want) {
				t.Errorf("aggregate of %s at %v: %+v, want %d tasks", node, now, n.Load, want)
			}
			return
		}
	}
	t.Errorf("%s is not registered at %v", node, now)
}

// changed returns the names of the nodes in the next snapshot for a scheduler, which takes it; everybody else
// takes theirs as well.
func changed(t *testing.T, s *datastore.Store, scheduler string) []string {
	t.Helper()
	names := []string{}
	step, _ := s.Settle(0)
	for _, p := range step.Push {
		snapshot := fill(t, s, p)
		if p.To.Name == scheduler {
			if snapshot.BaseVersion == 0 {
				t.Error("everything is pushed")
			}
			nodes := s.Status(0).Nodes
			for _, i := range snapshot.Node {
				names = append(names, nodes[i].Node.Name)
			}
		}
		s.Answered(0, p, 0)
	}
	return names
}

// What schedulers placed on a worker's former process is not on its way to the present one.
func TestStreamsToAFormerProcessDoNotCount(t *testing.T) {
	s := newStore(t, datastore.Config{})
	first := registerScheduler(t, s, "s", 1)
	register(t, s, 0, workerNode("a", "a:1", 1))
	flush(t, s, delta("s", 1, 3, placed("a", 1, 3)))
	aggregate(t, s, 0, "a", 3)
	register(t, s, 0, workerNode("a", "a:1", 2))
	aggregate(t, s, 0, "a", 0)
	if again := registerScheduler(t, s, "s", 1); again.OwnNumber[0] != 0 {
		t.Errorf("the aggregate contains placement %d on a process that is gone", again.OwnNumber[0])
	} else if again.Incarnation != first.Incarnation {
		t.Errorf("another data service: %+v", again)
	}
	flush(t, s, delta("s", 1, 4, placed("a", 2, 1)))
	aggregate(t, s, 0, "a", 1)
}

// What a worker has received of a scheduler's former process says nothing about what its present one has on the way.
func TestReceivedOfAFormerSchedulerSaysNothing(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 2)
	register(t, s, 0, workerNode("a", "a:1", 1))
	flush(t, s, delta("s", 2, 3, placed("a", 1, 3)))
	report(t, s, 1, cluster.Received{Scheduler: "s", Incarnation: 1, Number: 9, Received: tasks(9)})
	aggregate(t, s, 0, "a", 3)
	report(t, s, 2, cluster.Received{Scheduler: "s", Incarnation: 2, Number: 1, Received: tasks(1)})
	aggregate(t, s, 0, "a", 2)
}

// What changes nothing is not pushed: a delta or a report that arrives again.
func TestRepetitionsAreNotPushed(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	register(t, s, 0, workerNode("a", "a:1", 1))
	step, _ := s.Settle(0)
	deliver(t, s, 0, step)
	for _, c := range []struct {
		what string
		do   func()
		want []string
	}{
		{"a delta", func() { flush(t, s, delta("s", 1, 2, placed("a", 1, 2))) }, []string{"a"}},
		{"the same delta", func() { flush(t, s, delta("s", 1, 2, placed("a", 1, 2))) }, []string{}},
		{"a report", func() { report(t, s, 1) }, []string{"a"}},
		{"the same report", func() { report(t, s, 1) }, []string{}},
	} {
		c.do()
		if got := changed(t, s, "s"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are pushed, want %v", c.what, got, c.want)
		}
	}
}

// When a scheduler restarts, the others are told of the workers to which something was on its way, and of no others.
func TestWithdrawnPlacementsArePushed(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	registerScheduler(t, s, "other", 1)
	register(t, s, 0, workerNode("a", "a:1", 1))
	register(t, s, 0, workerNode("b", "b:1", 1))
	flush(t, s, delta("s", 1, 4, placed("a", 1, 2), placed("b", 1, 2)))
	report(t, s, 1, cluster.Received{Scheduler: "s", Incarnation: 1, Number: 2, Received: tasks(2)})
	step, _ := s.Settle(0)
	deliver(t, s, 0, step)
	registerScheduler(t, s, "s", 2)
	if got := changed(t, s, "other"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v are pushed, want b, which a message of the dead process never reaches", got)
	}
}
