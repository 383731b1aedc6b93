package datastore_test

import (
	"fmt"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

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
		hum(s, time.Second, c.now)
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
	hum(s, 0, 2*time.Minute)
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
		hum(s, time.Duration(minute-1)*time.Minute, time.Duration(minute)*time.Minute)
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
	if _, err := s.Flush(0, delta("s", 1, 2)); cluster.CodeOf(err) != cluster.UnknownScheduler {
		t.Errorf("flush of an unregistered scheduler: %v", err)
	}
	registerScheduler(t, s, "s", 2)
	if _, err := s.Flush(0, delta("s", 1, 3)); cluster.CodeOf(err) != cluster.Stale {
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
	for i, name := range names {
		registerScheduler(t, s, name, 1)
		if deliver(t, s, 0, s.Tick(0)) != i+1 {
			t.Errorf("%s joined: the homes must be pushed", name)
		}
	}
	homes := func() map[string]map[string]int {
		snapshot := registerScheduler(t, s, "s1", 1)
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
