package datastore_test

import (
	"testing"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// A scheduler that restarts before anybody noticed its death had placements on the way that never arrive: they
// leave the aggregate with its next process's registration, on nodes too that this one places nothing on.
func TestRestartedSchedulersPlacementsAreWithdrawn(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, 0, workerNode("a", "a:1", 1))
	registerScheduler(t, s, "s", 1)
	flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1, Placed: cluster.Load{Tasks: 1}}))
	registerScheduler(t, s, "s", 1)
	if got := s.Status(0).Nodes[0].Load; got.Tasks != 1 {
		t.Errorf("aggregate %+v: the same process registers again, its placement is still on the way", got)
	}
	registerScheduler(t, s, "s", 2)
	if got := s.Status(0).Nodes[0].Load; !got.IsZero() {
		t.Errorf("aggregate %+v, want nothing", got)
	}
	flush(t, s, delta("s", 2, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1, Placed: cluster.Load{Tasks: 5}}))
	if got := s.Status(0).Nodes[0].Load; got.Tasks != 5 {
		t.Errorf("aggregate %+v, want the new process's five tasks", got)
	}
}
