package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

const testIncarnation = 7

// testConfig is a replica for tests; the one task type "simulated" takes its figures from the
// submission.
func testConfig() Config {
	return Config{Name: "s1", Incarnation: testIncarnation, Seed: 1, DeltaBatch: 8, MaxAttempts: 5,
		ReplaceTimeout: 30 * time.Second, MaxPending: 1 << 20, RetainResults: 1 << 20, RetainFor: time.Hour, RetainJobs: 24 * time.Hour,
		DefaultDuration: 10 * time.Second,
		Dimensions:      cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated"}}}
}

func paperPolicy(t testing.TB) Policy {
	t.Helper()
	p, err := PaperPolicy.Build(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// paperClasses is the paper's Table 1: 100 workers of four classes.
var paperClasses = []struct {
	name          string
	count         int
	cores, memory int64
}{{"m510", 40, 8, 65536}, {"xl170", 25, 10, 65536}, {"c6525-25g", 18, 16, 131072}, {"c6620", 17, 28, 131072}}

// paperNodes returns the paper's cluster, repeated until there are n workers.
func paperNodes(n int) []cluster.Node {
	var nodes []cluster.Node
	for len(nodes) < n {
		for _, c := range paperClasses {
			for range c.count {
				name := fmt.Sprintf("w%d", len(nodes))
				nodes = append(nodes, cluster.Node{Name: name, Address: name + ":1", Class: c.name, Incarnation: 1, Slots: int(c.cores),
					Capacity: cluster.Resources{cluster.Cores: c.cores * 1000, cluster.Memory: c.memory}})
			}
		}
	}
	return nodes[:n]
}

// snapshotOf is a whole snapshot that shows the nodes with the given loads.
func snapshotOf(version int64, nodes []cluster.Node, loads []cluster.Load) *cluster.Snapshot {
	s := &cluster.Snapshot{Incarnation: 1, Version: version, RosterVersion: version, ReceiverIncarnation: testIncarnation,
		Roster: &cluster.Roster{Version: version, Nodes: nodes}}
	for i := range nodes {
		s.Node = append(s.Node, int32(i))
		s.Load = append(s.Load, loads[i])
		s.OwnNumber = append(s.OwnNumber, 0)
		s.ReportSequence = append(s.ReportSequence, 0)
	}
	return s
}

// replicaWith returns a replica that has a snapshot of the nodes, all idle unless loads say otherwise.
func replicaWith(t testing.TB, cfg Config, p Policy, nodes []cluster.Node, loads ...cluster.Load) *Replica {
	t.Helper()
	r, err := New(cfg, p)
	if err != nil {
		t.Fatal(err)
	}
	for len(loads) < len(nodes) {
		loads = append(loads, cluster.Load{})
	}
	if _, err := r.Push(0, snapshotOf(1, nodes, loads)); err != nil {
		t.Fatal(err)
	}
	return r
}

// request is a submission of type "simulated".
func request(id string, cores float64, memory, duration int64) *cluster.TaskSpec {
	demand := cluster.Resources{cluster.Cores: int64(cores * 1000), cluster.Memory: memory}
	return &cluster.TaskSpec{ID: id, Type: "simulated", Demand: &demand, Duration: &duration, TimeScale: 1}
}

// submit fails the test when the task is refused, and returns where it went.
func submit(t testing.TB, r *Replica, now time.Duration, s *cluster.TaskSpec) Dispatch {
	t.Helper()
	actions, refusal := r.Submit(now, "client", s)
	if refusal != nil {
		t.Fatalf("task %s refused: %v", s.ID, refusal)
	}
	if len(actions.Send) != 1 {
		t.Fatalf("task %s: %d dispatches, want 1", s.ID, len(actions.Send))
	}
	return actions.Send[0]
}

// acknowledge is the worker's plain yes to a dispatch.
func acknowledge(r *Replica, now time.Duration, d Dispatch) {
	r.Acknowledged(now, []Dispatch{d}, &cluster.EnqueueReply{})
}

// finish is the worker's notice that a dispatch ended.
func finish(t testing.TB, r *Replica, now time.Duration, d Dispatch, o cluster.Outcome) *Actions {
	t.Helper()
	actions, err := r.Completed(now, &cluster.CompletionNotice{Node: r.Node(d.Node).Name, NodeIncarnation: d.NodeIncarnation,
		SchedulerIncarnation: testIncarnation,
		Completions:          []cluster.Completion{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number, Outcome: o, Run: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// noAnswer is what follows when nobody answers at the workers that a roster lacks, whose streams are to shake hands.
func noAnswer(r *Replica, now time.Duration, actions *Actions) Actions {
	all := Actions{Send: slices.Clone(actions.Send), Drop: slices.Clone(actions.Drop)}
	for _, index := range slices.Clone(actions.Ask) {
		down := r.NodeDown(now, index, r.Node(index).Incarnation, allAttempted)
		all.Send, all.Drop = append(all.Send, down.Send...), append(all.Drop, down.Drop...)
	}
	return all
}

// pushed applies a snapshot that says nothing but who is there.
func pushed(t testing.TB, r *Replica, now time.Duration, version int64, nodes []cluster.Node) *Actions {
	t.Helper()
	actions, err := r.Push(now, snapshotOf(version, nodes, make([]cluster.Load, len(nodes))))
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// collectAll reads everything that waits for the test's client.
func collectAll(t testing.TB, r *Replica, after int64) ([]cluster.TaskRecord, int64) {
	t.Helper()
	records, cursor, err := r.Collect(nil, &cluster.CollectRequest{Client: "client", After: after, Max: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return records, cursor
}
