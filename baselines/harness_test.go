package baselines

import (
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

const testIncarnation = 7

// fataler is a test, a benchmark or a property.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func testConfig() scheduler.Config {
	return scheduler.Config{Name: "s1", Incarnation: testIncarnation, Seed: 1, DeltaBatch: 8, MaxAttempts: 5,
		ReplaceTimeout: 30 * time.Second, MaxPending: 1 << 20, RetainResults: 1 << 20, RetainFor: time.Hour,
		Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated"}}}
}

// newPolicy is the named policy with its default knobs, changed by each of set.
func newPolicy(t fataler, name string, set ...func(scheduler.Settings)) scheduler.Policy {
	t.Helper()
	k := Defaults()
	for _, change := range set {
		change(k)
	}
	p, err := New(name, k, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// score and prequalOf are tables of knobs to change.
func score(s scheduler.Settings) *scheduler.ScoreKnobs {
	return s.Find("score").(*scheduler.ScoreKnobs)
}
func prequalOf(s scheduler.Settings) *PrequalKnobs { return s.Find("prequal").(*PrequalKnobs) }

// newReplica runs p on the nodes, all idle.
func newReplica(t fataler, cfg scheduler.Config, p scheduler.Policy, nodes []cluster.Node) *scheduler.Replica {
	t.Helper()
	r, err := scheduler.New(cfg, p)
	if err != nil {
		t.Fatal(err)
	}
	push(t, r, 1, nodes, nil, nil)
	return r
}

// push brings a whole snapshot: the nodes with their loads (nil: all idle) and, per node, the last own
// placement that the load includes (nil: none).
func push(t fataler, r *scheduler.Replica, version int64, nodes []cluster.Node, loads []cluster.Load, own []int64) *scheduler.Actions {
	t.Helper()
	if loads == nil {
		loads = make([]cluster.Load, len(nodes))
	}
	if own == nil {
		own = make([]int64, len(nodes))
	}
	s := &cluster.Snapshot{Incarnation: 1, Version: version, RosterVersion: version, ReceiverIncarnation: testIncarnation,
		Roster: &cluster.Roster{Version: version, Nodes: nodes}, Load: loads, OwnNumber: own, ReportSequence: make([]int64, len(nodes))}
	for i := range nodes {
		s.Node = append(s.Node, int32(i))
	}
	actions, err := r.Push(0, s)
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// viewOf is a view of n equal idle nodes, to drive a policy without a replica's bookkeeping.
func viewOf(t fataler, n int, p scheduler.Policy) *scheduler.View {
	t.Helper()
	return newReplica(t, testConfig(), p, equalNodes(n)).View()
}

func equalNodes(n int) []cluster.Node {
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = node(fmt.Sprintf("w%d", i), 8)
	}
	return nodes
}

func node(name string, cores int64) cluster.Node {
	return cluster.Node{Name: name, Address: name + ":1", Class: "any", Slots: int(cores), Incarnation: 1,
		Capacity: cluster.Resources{cluster.Cores: cores * 1000, cluster.Memory: 65536}}
}

// unit is a task of one core and a second; its id seeds its draws.
func unit(id int) *cluster.Task { return taskOf(id, 1) }

func taskOf(id int, cores int64) *cluster.Task {
	name := fmt.Sprint(id)
	return &cluster.Task{ID: name, Seed: cluster.HashID(name), Kind: &cluster.Kind{HasUniform: true,
		Uniform: cluster.Shape{Demand: cluster.Resources{cluster.Cores: cores * 1000, cluster.Memory: 64}, Duration: 1000}}}
}

// request is unit as a client submits it.
func request(id int) *cluster.TaskSpec {
	duration := int64(1000)
	return &cluster.TaskSpec{ID: fmt.Sprint(id), Type: "simulated", Duration: &duration, TimeScale: 1,
		Demand: &cluster.Resources{cluster.Cores: 1000, cluster.Memory: 64}}
}

// placedOn fails the test unless the decision places exactly one task, and returns where.
func placedOn(t fataler, s scheduler.Decision) int {
	t.Helper()
	if len(s.Place) != 1 {
		t.Fatalf("%d placements, want 1", len(s.Place))
	}
	return s.Place[0].Node
}

// tasks is the answer of a node that holds n tasks.
func tasks(n int64) cluster.ProbeReply { return cluster.ProbeReply{Tasks: n, Latency: -1} }

// leave has nobody answer at the workers that are asked whether they are there.
func leave(r *scheduler.Replica, actions *scheduler.Actions) {
	for _, i := range slices.Clone(actions.Ask) {
		r.NodeDown(0, i, r.Node(i).Incarnation, 0)
	}
}
