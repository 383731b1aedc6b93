package datastore_test

import (
	"slices"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

func newStore(t *testing.T, cfg datastore.Config) *datastore.Store {
	t.Helper()
	if cfg.Batch == 0 {
		cfg.Batch = 100
	}
	cfg.Incarnation, cfg.NodeTimeout = 1, time.Minute
	s, err := datastore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func workerNode(name, address string, incarnation int64) cluster.Node {
	return cluster.Node{Name: name, Address: address, Class: "any", Slots: 4, Incarnation: incarnation,
		Capacity: cluster.Resources{4000, 4096}}
}

func register(t *testing.T, s *datastore.Store, now time.Duration, n cluster.Node) {
	t.Helper()
	if err := s.RegisterNode(now, n); err != nil {
		t.Fatal(err)
	}
}

func registerScheduler(t *testing.T, s *datastore.Store, name string, incarnation int64) cluster.Snapshot {
	t.Helper()
	snapshot, err := s.RegisterScheduler(cluster.SchedulerRef{Name: name, Address: name + ":1", Incarnation: incarnation})
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// hum lets somebody who is not registered be heard all the time.
func hum(s *datastore.Store, from, to time.Duration) {
	for at := from; at < to; {
		at = min(at+time.Second, to)
		_ = s.Report(at, &cluster.Report{Node: "elsewhere"}) // it is refused
	}
}

func delta(scheduler string, incarnation, decisions int64, placed ...cluster.Placed) *cluster.Delta {
	return &cluster.Delta{Scheduler: scheduler, Incarnation: incarnation, Decisions: decisions, Placed: placed}
}

func flush(t *testing.T, s *datastore.Store, d *cluster.Delta) datastore.Actions {
	t.Helper()
	return flushAt(t, s, 0, d)
}

func flushAt(t *testing.T, s *datastore.Store, now time.Duration, d *cluster.Delta) datastore.Actions {
	t.Helper()
	actions, err := s.Flush(now, d)
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// fill returns the snapshot of a push that is due.
func fill(t *testing.T, s *datastore.Store, p datastore.Push) cluster.Snapshot {
	t.Helper()
	var snapshot cluster.Snapshot
	if !s.Fill(&snapshot, p) {
		t.Fatalf("%s has left", p.To.Name)
	}
	return snapshot
}

// deliver lets the schedulers take the pushes that are due, and what follows, and returns how many there were.
func deliver(t *testing.T, s *datastore.Store, now time.Duration, actions datastore.Actions) int {
	t.Helper()
	count := 0
	for due := slices.Clone(actions.Push); len(due) > 0; due = due[1:] {
		count++
		fill(t, s, due[0])
		due = append(due, s.Answered(now, due[0], 0).Push...)
	}
	return count
}

// Sec. 3.1: "The data service pushes refreshed snapshots to schedulers every global batch of size b
// (counted in scheduling decisions)": with b = 100, b_Δ = 8 and S = 5, four thousand decisions make
// exactly 500 flushes and 40 pushes, 1.175 control messages per task with the submissions.
func TestPaperPushEveryBDecisions(t *testing.T) {
	for _, c := range []struct {
		b, bDelta int64
		perTask   float64
	}{{100, 8, 1.175}, {50, 4, 1.35}} {
		s := newStore(t, datastore.Config{Batch: c.b})
		const schedulers, tasks = 5, 4000
		names := []string{"s0", "s1", "s2", "s3", "s4"}
		for _, name := range names {
			registerScheduler(t, s, name, 1)
		}
		placed := map[string]int64{}
		flushes, pushes := 0, 0
		for i := range tasks {
			name := names[i%schedulers]
			placed[name]++
			if placed[name]%c.bDelta == 0 {
				flushes++
				pushes += deliver(t, s, 0, flush(t, s, delta(name, 1, placed[name])))
			}
		}
		if got := (tasks + float64(flushes) + float64(pushes)) / tasks; got != c.perTask {
			t.Errorf("b=%d, b_Δ=%d: %v control messages per task (%d flushes, %d pushes), want %v", c.b, c.bDelta, got, flushes, pushes, c.perTask)
		}
	}
}

// A repeated or overtaken delta counts no decision twice.
func TestDecisionsAreCountedOnce(t *testing.T) {
	s := newStore(t, datastore.Config{Batch: 10})
	registerScheduler(t, s, "s", 1)
	for _, c := range []struct {
		decisions, total int64
		push             bool
	}{{8, 8, false}, {16, 16, true}, {16, 16, false}, {8, 16, false}, {24, 24, true}, {25, 25, false}} {
		if push := deliver(t, s, 0, flush(t, s, delta("s", 1, c.decisions))) == 1; push != c.push || s.Decisions() != c.total {
			t.Errorf("after %d: push %v, total %d; want %v, %d", c.decisions, push, s.Decisions(), c.push, c.total)
		}
	}
	registerScheduler(t, s, "s", 2)
	if flush(t, s, delta("s", 2, 5)); s.Decisions() != 30 {
		t.Errorf("a restarted scheduler's 5 decisions make %d, want 30", s.Decisions())
	}
}

// A snapshot carries only what changed since the receiver's last acknowledged version, and everything
// on (re)connect or after the roster changed.
func TestSnapshotsAreIncremental(t *testing.T) {
	s := newStore(t, datastore.Config{})
	first := registerScheduler(t, s, "s", 1)
	if first.Roster == nil || first.BaseVersion != 0 {
		t.Errorf("first snapshot %+v: want a whole one", first)
	}
	register(t, s, 0, workerNode("a", "a:1", 1))
	register(t, s, 0, workerNode("b", "b:1", 1))
	var under datastore.Push // way
	next := func() cluster.Snapshot {
		actions, _ := s.Settle(0)
		under = actions.Push[0]
		return fill(t, s, under)
	}
	whole := next()
	if whole.Roster == nil || len(whole.Node) != 2 {
		t.Errorf("snapshot after registrations %+v: want the roster and both nodes", whole)
	}
	s.Answered(0, under, 0)
	if quiet := next(); quiet.Roster != nil || len(quiet.Node) != 0 || quiet.BaseVersion != whole.Version {
		t.Errorf("snapshot after nothing happened %+v", quiet)
	}
	s.Answered(0, under, 0)
	load := cluster.Load{Tasks: 1, Duration: 10}
	flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "b", NodeIncarnation: 1, Number: 1, Placed: load}))
	if change := next(); len(change.Node) != 1 || change.Node[0] != 1 || change.Load[0] != load || change.OwnNumber[0] != 1 {
		t.Errorf("snapshot after one placement %+v: want node b alone, own number 1", change)
	}
	again := fill(t, s, s.Answered(0, under, cluster.Gap).Push[0])
	if again.Roster == nil || len(again.Node) != 2 || again.BaseVersion != 0 {
		t.Errorf("snapshot after a gap %+v: want a whole one", again)
	}
}

func TestRosterChangesArePushedAtTheNextTick(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	deliver(t, s, 0, s.Tick(0))
	if deliver(t, s, 0, s.Tick(0)) != 0 {
		t.Error("nothing happened")
	}
	register(t, s, 0, workerNode("a", "a:1", 1))
	if deliver(t, s, 0, s.Tick(0)) != 1 {
		t.Error("a new node is a candidate after the next snapshot, which nothing else would trigger on an idle cluster")
	}
	if deliver(t, s, 0, s.Tick(0)) != 0 {
		t.Error("pushed already")
	}
	if err := s.Report(0, &cluster.Report{Node: "a", Incarnation: 1, Sequence: 1, Draining: true}); err != nil {
		t.Fatal(err)
	}
	if deliver(t, s, 0, s.Tick(0)) != 1 {
		t.Error("a draining node must leave the candidates")
	}
}

func TestMaxStaleness(t *testing.T) {
	for _, bound := range []time.Duration{0, time.Second} {
		s := newStore(t, datastore.Config{MaxStaleness: bound})
		register(t, s, 0, workerNode("a", "a:1", 1))
		registerScheduler(t, s, "s", 1)
		deliver(t, s, 0, s.Tick(0))
		flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1}))
		if deliver(t, s, 500*time.Millisecond, s.Tick(500*time.Millisecond)) != 0 {
			t.Errorf("bound %v: pushed after half a second", bound)
		}
		if got := deliver(t, s, 2*time.Second, s.Tick(2*time.Second)) == 1; got != (bound > 0) {
			t.Errorf("bound %v: push after two seconds: %v", bound, got)
		}
	}
}
