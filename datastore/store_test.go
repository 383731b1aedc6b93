package datastore_test

import (
	"fmt"
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
	return cluster.Node{Name: name, Address: address, Class: "any", Slots: 4, Incarnation: incarnation, Capacity: cluster.Resources{4000, 4096}}
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

func delta(scheduler string, incarnation, decisions int64, placed ...cluster.Placed) *cluster.Delta {
	return &cluster.Delta{Scheduler: scheduler, Incarnation: incarnation, Decisions: decisions, Placed: placed}
}

func flush(t *testing.T, s *datastore.Store, d *cluster.Delta) datastore.Step {
	t.Helper()
	step, err := s.Flush(d)
	if err != nil {
		t.Fatal(err)
	}
	return step
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
				if flush(t, s, delta(name, 1, placed[name])).Push {
					pushes++
				}
			}
		}
		if got := (tasks + float64(flushes) + schedulers*float64(pushes)) / tasks; got != c.perTask {
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
		if push := flush(t, s, delta("s", 1, c.decisions)).Push; push != c.push || s.Decisions() != c.total {
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
	next := func() cluster.Snapshot {
		snapshot, ok := s.SnapshotFor("s", 1)
		if !ok {
			t.Fatal("the scheduler is gone")
		}
		return snapshot
	}
	whole := next()
	if whole.Roster == nil || len(whole.Node) != 2 {
		t.Errorf("snapshot after registrations %+v: want the roster and both nodes", whole)
	}
	s.Acknowledged("s", &whole)
	if quiet := next(); quiet.Roster != nil || len(quiet.Node) != 0 || quiet.BaseVersion != whole.Version {
		t.Errorf("snapshot after nothing happened %+v", quiet)
	}
	load := cluster.Load{Tasks: 1, Duration: 10}
	flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "b", NodeIncarnation: 1, Number: 1, Placed: load}))
	if change := next(); len(change.Node) != 1 || change.Node[0] != 1 || change.Load[0] != load || change.OwnNumber[0] != 1 {
		t.Errorf("snapshot after one placement %+v: want node b alone, own number 1", change)
	}
	s.Forget("s")
	if again := next(); again.Roster == nil || len(again.Node) != 2 || again.BaseVersion != 0 {
		t.Errorf("snapshot after a gap %+v: want a whole one", again)
	}
}

func TestRosterChangesArePushedAtTheNextTick(t *testing.T) {
	s := newStore(t, datastore.Config{})
	if s.Tick(0).Push {
		t.Error("nothing happened")
	}
	register(t, s, 0, workerNode("a", "a:1", 1))
	if !s.Tick(0).Push {
		t.Error("a new node is a candidate after the next snapshot, which nothing else would trigger on an idle cluster")
	}
	s.Pushed(0)
	if s.Tick(0).Push {
		t.Error("pushed already")
	}
	if err := s.Report(0, &cluster.Report{Node: "a", Incarnation: 1, Sequence: 1, Draining: true}); err != nil {
		t.Fatal(err)
	}
	if !s.Tick(0).Push {
		t.Error("a draining node must leave the candidates")
	}
}

func TestMaxStaleness(t *testing.T) {
	for _, bound := range []time.Duration{0, time.Second} {
		s := newStore(t, datastore.Config{MaxStaleness: bound})
		register(t, s, 0, workerNode("a", "a:1", 1))
		registerScheduler(t, s, "s", 1)
		s.Pushed(0)
		flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1}))
		if s.Tick(500 * time.Millisecond).Push {
			t.Errorf("bound %v: pushed after half a second", bound)
		}
		if got := s.Tick(2 * time.Second).Push; got != (bound > 0) {
			t.Errorf("bound %v: push after two seconds: %v", bound, got)
		}
	}
}

func TestNodeNames(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, 0, workerNode("a", "a:1", 5))
	for _, c := range []struct {
		what string
		node cluster.Node
		now  time.Duration
		want cluster.ErrorCode
	}{
		{"the same again", workerNode("a", "a:1", 5), 0, 0},
		{"a live namesake elsewhere", workerNode("a", "b:1", 6), time.Second, cluster.DuplicateNode},
		{"an older process", workerNode("a", "a:1", 4), 0, cluster.Stale},
		{"a restart at the same address", workerNode("a", "a:1", 7), time.Second, 0},
		{"a restart elsewhere after silence", workerNode("a", "c:1", 8), 2 * time.Minute, 0},
	} {
		if err := s.RegisterNode(c.now, c.node); cluster.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if s.Nodes() != 1 {
		t.Errorf("%d nodes, want 1", s.Nodes())
	}
}

// A silent node leaves the roster; after it reports again it must register, and its accounts are whole.
func TestSilentNodeLeavesAndReturns(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	register(t, s, 0, workerNode("a", "a:1", 1))
	load := cluster.Load{Tasks: 2, Duration: 20}
	flush(t, s, delta("s", 1, 2, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 2, Placed: load}))
	s.Tick(2 * time.Minute)
	if s.Nodes() != 0 {
		t.Fatal("a silent node stayed")
	}
	report := &cluster.Report{Node: "a", Incarnation: 1, Sequence: 1}
	if err := s.Report(2*time.Minute, report); cluster.CodeOf(err) != cluster.UnknownNode {
		t.Errorf("report of an unregistered node: %v", err)
	}
	register(t, s, 2*time.Minute, workerNode("a", "a:1", 1))
	if err := s.Report(2*time.Minute, report); err != nil {
		t.Fatal(err)
	}
	if got := s.Status(2 * time.Minute).Nodes[0].Load; got != load {
		t.Errorf("aggregate %+v, want what is on its way: %+v", got, load)
	}
	for minute := 3; minute < 60; minute++ {
		s.Tick(time.Duration(minute) * time.Minute)
	}
	register(t, s, time.Hour, workerNode("a", "a:1", 1))
	if got := s.Status(time.Hour).Nodes[0].Load; !got.IsZero() {
		t.Errorf("aggregate %+v: a node that stayed away is forgotten", got)
	}
}

// A scheduler that died had placements on the way that never arrive: they leave the aggregate.
func TestDeadSchedulersPlacementsAreWithdrawn(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, 0, workerNode("a", "a:1", 1))
	registerScheduler(t, s, "s", 1)
	flush(t, s, delta("s", 1, 1, cluster.Placed{Node: "a", NodeIncarnation: 1, Number: 1, Placed: cluster.Load{Tasks: 1}}))
	s.UnregisterScheduler("s", 1)
	if got := s.Status(0).Nodes[0].Load; !got.IsZero() {
		t.Errorf("aggregate %+v, want nothing", got)
	}
	if _, err := s.Flush(delta("s", 1, 2)); cluster.CodeOf(err) != cluster.UnknownScheduler {
		t.Errorf("flush of an unregistered scheduler: %v", err)
	}
	registerScheduler(t, s, "s", 2)
	if _, err := s.Flush(delta("s", 1, 3)); cluster.CodeOf(err) != cluster.Stale {
		t.Errorf("flush of an older process: %v", err)
	}
}

func TestSettingsOutOfRangeAreRefused(t *testing.T) {
	for _, c := range []datastore.Config{{Batch: 0, NodeTimeout: time.Second}, {Batch: -1, NodeTimeout: time.Second}, {Batch: 1}} {
		if _, err := datastore.New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// Every node has a home scheduler; every scheduler gets its share of every class, nodes keep their homes
// while nobody joins or leaves, and the roster is pushed when somebody does.
func TestHomesAreBalancedPerClass(t *testing.T) {
	s := newStore(t, datastore.Config{})
	for i := range 40 {
		n := workerNode(fmt.Sprintf("n%02d", 39-i), fmt.Sprintf("a%d:1", i), 1)
		n.Class = []string{"large", "small"}[i%4/3]
		register(t, s, 0, n)
	}
	names := []string{"s3", "s1", "s2"}
	for _, name := range names {
		s.Pushed(0)
		registerScheduler(t, s, name, 1)
		if !s.Tick(0).Push {
			t.Errorf("%s joined: the homes must be pushed", name)
		}
	}
	homes := func() map[string]map[string]int {
		snapshot, ok := s.SnapshotFor("s1", 1)
		if !ok || snapshot.Roster == nil {
			t.Fatal("no roster")
		}
		count := map[string]map[string]int{}
		for i, n := range snapshot.Roster.Nodes {
			home := snapshot.Roster.Schedulers[snapshot.Roster.Home[i]]
			if count[home] == nil {
				count[home] = map[string]int{}
			}
			count[home][n.Class]++
		}
		return count
	}
	for home, classes := range homes() {
		if classes["large"] != 10 || classes["small"] < 3 || classes["small"] > 4 {
			t.Errorf("%s is home to %v, of 30 large and 10 small nodes and 3 schedulers", home, classes)
		}
	}
	s.UnregisterScheduler("s3", 1)
	for home, classes := range homes() {
		if classes["large"] != 15 || classes["small"] != 5 {
			t.Errorf("after s3 left, %s is home to %v", home, classes)
		}
	}
	s.UnregisterScheduler("s2", 1)
	s.UnregisterScheduler("s1", 1)
	if snapshot := registerScheduler(t, s, "s9", 1); len(snapshot.Roster.Home) != 40 {
		t.Errorf("%d homes for 40 nodes", len(snapshot.Roster.Home))
	}
}
