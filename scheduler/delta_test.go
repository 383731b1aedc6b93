package scheduler

import (
	"errors"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// deltaOf is a delta with number n for each of the workers.
func deltaOf(n int64, workers ...string) *cluster.Delta {
	d := &cluster.Delta{Scheduler: "s1", Decisions: n}
	for _, w := range workers {
		d.Placed = append(d.Placed, cluster.Placed{Node: w, Number: n})
	}
	return d
}

// workersOf returns what a settled replica says in its delta: the workers, in order.
func workersOf(t *testing.T, r *Replica) []string {
	t.Helper()
	var names []string
	for _, d := range r.Settle(0).Flush {
		for _, p := range d.Placed {
			if p.Number < 1 || p.Placed.Tasks != p.Number {
				t.Errorf("delta %+v: a worker that was given nothing", p)
			}
			names = append(names, p.Node)
		}
	}
	slices.Sort(names)
	return names
}

// Of several deltas none is left out, the oldest neither; of each worker the newest P is said.
func TestMergeKeepsEveryDelta(t *testing.T) {
	merged := Merge([]*cluster.Delta{deltaOf(1, "a", "d"), deltaOf(2, "b"), deltaOf(3, "c", "d")})
	got := map[string]int64{}
	for _, p := range merged.Placed {
		got[p.Node] = p.Number
	}
	if len(merged.Placed) != 4 || got["a"] != 1 || got["b"] != 2 || got["c"] != 3 || got["d"] != 3 || merged.Decisions != 3 {
		t.Errorf("merged %+v", merged)
	}
}

// A worker that left before the delta is not in it, nor is one that took its place; those that stayed are.
func TestADeltaSaysNothingOfWhoLeft(t *testing.T) {
	cfg := testConfig()
	cfg.DeltaBatch = 1000
	nodes := []cluster.Node{nodeOf("a", 64, 1<<20), nodeOf("b", 64, 1<<20)}
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	for i, id := range []string{"on a", "on b"} {
		r.nodes.slots[i].suspect, r.nodes.slots[1-i].suspect = false, true
		r.refreshCandidates()
		if d := submit(t, r, 0, request(id, 1, 1, 1)); d.Node != i {
			t.Fatalf("%s is on %d", id, d.Node)
		}
	}
	left := []cluster.Node{nodeOf("c", 1, 1), nodes[1]} // c is too small for what a held
	noAnswer(r, 0, pushed(t, r, 0, 2, left[1:]))
	pushed(t, r, 0, 3, left)
	if r.Node(0).Name != "c" {
		t.Fatalf("%s has the place of a", r.Node(0).Name)
	}
	if got := workersOf(t, r); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the delta says %v, want b", got)
	}
}

// After a restart of the data service the next delta says P of every worker that was given something; a policy
// without a cache has nothing to say.
func TestResyncSaysEverything(t *testing.T) {
	nodes := paperNodes(3)
	for what, c := range map[string]struct {
		policy Policy
		want   []string
	}{"cached": {paperPolicy(t), []string{"w1"}}, "uncached": {uncached{paperPolicy(t)}, nil}} {
		r := replicaWith(t, testConfig(), c.policy, nodes)
		r.nodes.slots[0].suspect, r.nodes.slots[2].suspect = true, true
		r.refreshCandidates()
		submit(t, r, 0, request("a", 1, 1, 1))
		if got := workersOf(t, r); !slices.Equal(got, c.want) {
			t.Errorf("%s: before the restart %v, want %v", what, got, c.want)
		}
		if got := workersOf(t, r); got != nil {
			t.Errorf("%s: said again without a reason: %v", what, got)
		}
		restarted := snapshotOf(1, nodes, make([]cluster.Load, 3))
		restarted.Incarnation = 2
		if _, err := r.Push(0, restarted); err != nil {
			t.Fatal(err)
		}
		if got := workersOf(t, r); !slices.Equal(got, c.want) {
			t.Errorf("%s: after the restart %v, want %v", what, got, c.want)
		}
	}
}

// What may have reached a worker stays so when a later handshake does not: a task that must not run twice is lost
// with its worker, not placed again.
func TestAFailedHandshakeUndoesNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	spec := request("a", 1, 1, 1)
	spec.AtMostOnce = true
	d := submit(t, r, 0, spec)
	s := (&Deliveries{Replica: r, MaxBatch: 4, Grace: time.Second}).Open(d.Node)
	s.Post(&d)
	s.Next(0)
	s.Attached(0, attachReply(s.name, 1, 0))
	if s.Next(0) != Enqueue {
		t.Fatal("nothing leaves")
	}
	s.Failed(0, Unanswered, errLost)
	if s.Next(time.Minute) != Attach {
		t.Fatal("no handshake")
	}
	if v := s.Failed(time.Minute, NotSent, errLost); !v.GivenUp || len(v.Actions.Send) > 0 || r.Statistics().Outcomes[cluster.Lost] != 1 {
		t.Errorf("%+v: want the worker given up, and the task lost", v)
	}
}

// A worker that rejects the handshake is out of reach like one that does not answer: it leaves the candidates.
func TestARejectedHandshakeIsAFailure(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	s := (&Deliveries{Replica: r, MaxBatch: 4, Grace: 1000 * ms}).Open(0)
	d := submit(t, r, 0, request("a", 1, 1, 1))
	s.Post(&d)
	if s.Next(0) != Attach {
		t.Fatal("no handshake")
	}
	v := s.Failed(0, Unanswered, cluster.Errorf(cluster.Invalid, "a worker of another version"))
	if !errors.Is(v.Trouble, cluster.Invalid) || v.GivenUp || r.Statistics().Candidates != 0 {
		t.Errorf("%+v, %d candidates: want trouble and no candidate", v, r.Statistics().Candidates)
	}
	if wait, again := s.Due(0); !again || wait <= 0 {
		t.Errorf("tried again in %v (%v), want after a pause", wait, again)
	}
}
