package datastore_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// However often and long the data service is paused or cut off, a worker that is heard every fifth of the node timeout
// while the data service listens never leaves, and one that died leaves in time when that is over.
func TestPausesEvictNobodyAndHideNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit, beat = time.Minute, 12 * time.Second // of newStore
		s, err := datastore.New(datastore.Config{Incarnation: 1, Batch: 10, NodeTimeout: limit})
		if err != nil {
			t.Fatal(err)
		}
		live := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "live")]
		now, sequence := time.Duration(0), int64(0)
		for _, name := range append([]string{"dead"}, live...) {
			if err := s.RegisterNode(now, workerNode(name, name+":1", 1)); err != nil {
				t.Fatal(err)
			}
		}
		beats := func() {
			now += beat
			sequence++
			if rapid.Bool().Draw(t, "tick first") {
				s.Tick(now)
			}
			for _, name := range live {
				if err := s.Report(now, &cluster.Report{Node: name, Incarnation: 1, Sequence: sequence}); err != nil {
					t.Fatalf("at %v: %v", now, err)
				}
				s.Tick(now)
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "pauses") {
			now += time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pause"))
			for range rapid.IntRange(0, 10).Draw(t, "beats") {
				beats()
			}
		}
		for range int(limit/beat) + 2 {
			beats()
		}
		if s.Nodes() != len(live) {
			t.Errorf("at %v: %d workers, want the %d that live", now, s.Nodes(), len(live))
		}
	})
}

// A data service that hears nobody gives nobody up for three node timeouts, and then everybody.
func TestSilenceOfEverybody(t *testing.T) {
	const limit = time.Minute // of newStore
	s := newStore(t, datastore.Config{})
	for _, name := range []string{"a", "b"} {
		if err := s.RegisterNode(0, workerNode(name, name+":1", 1)); err != nil {
			t.Fatal(err)
		}
	}
	for now := time.Duration(0); now <= 4*limit; now += time.Second {
		s.Tick(now)
		if got, want := s.Nodes(), 2; now <= 3*limit && got != want {
			t.Fatalf("after %v: %d workers, want %d", now, got, want)
		}
	}
	if s.Nodes() != 0 {
		t.Errorf("%d workers are left", s.Nodes())
	}
}

// A worker that dies alone goes in time where an idle scheduler alone talks.
func TestIdleSchedulersShowThatNobodyIsCutOff(t *testing.T) {
	s, err := datastore.New(datastore.Config{Incarnation: 1, Batch: 10, NodeTimeout: 2500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RegisterScheduler(cluster.SchedulerRef{Name: "s", Address: "s:1", Incarnation: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.RegisterNode(0, workerNode("a", "a:1", 1)); err != nil {
		t.Fatal(err)
	}
	for now := time.Duration(0); now <= 3*time.Second; now += datastore.TickEvery {
		if now%(2020*time.Millisecond) == 0 {
			if err := s.CheckScheduler(now, "s", 1); err != nil {
				t.Fatal(err)
			}
		}
		s.Tick(now)
	}
	if s.Nodes() != 0 {
		t.Error("it is still there after three seconds")
	}
}
