package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A record tells of the placement that ended its task, worker, class and figures, also when the task was placed
// elsewhere since.
func TestRecordOfAnEarlierPlacement(t *testing.T) {
	nodes := paperNodes(2)
	nodes[1].Class = "other"
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	first := submit(t, r, 0, request("a", 1, 10, 100))
	acknowledge(r, 0, first)
	on := nodes[first.Node]
	actions := r.NodeDown(time.Second, first.Node, 1, first.Assignment.Number)
	if len(actions.Send) != 1 || actions.Send[0].Node == first.Node {
		t.Fatalf("actions %+v: want it placed on the other node", actions)
	}
	acknowledge(r, 2*time.Second, actions.Send[0])
	notice := &cluster.CompletionNotice{Node: on.Name, NodeIncarnation: 1, SchedulerIncarnation: testIncarnation,
		Completions: []cluster.Completion{{TaskID: "a", Number: first.Assignment.Number, Outcome: cluster.Finished, Run: time.Second}}}
	if _, err := r.Completed(3*time.Second, notice); err != nil {
		t.Fatal(err)
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Worker != on.Name || records[0].Class != on.Class || records[0].Scheduling != 2*time.Second {
		t.Errorf("records %+v: want %s of class %s, and the second placement's acknowledgement left out", records, on.Name, on.Class)
	}
}

// A stream to a worker that is back, and to which something was given up, begins with the handshake although nothing
// waits: until the worker has heard of it, it counts as the worker's load. Any other stream waits for a placement.
func TestAReturningWorkerHearsAtOnce(t *testing.T) {
	nodes := paperNodes(2)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	deliveries := &Deliveries{Replica: r, MaxBatch: 4}
	s := deliveries.Open(0)
	if move := s.Next(0); move != Rest {
		t.Fatalf("a new worker: %v, want rest", move)
	}
	for i := 0; submit(t, r, 0, request(string(rune('a'+i)), 1, 10, 100)).Node != 0; i++ {
	}
	noAnswer(r, 0, pushed(t, r, 0, 2, nodes[1:]))
	pushed(t, r, 0, 3, nodes)
	s = deliveries.Open(r.nodes.byName["w0"])
	if move := s.Next(0); move != Attach {
		t.Fatalf("a worker that is back: %v, want the handshake", move)
	}
	verdict := s.Attached(0, &cluster.AttachReply{Incarnation: 1, Report: cluster.Report{Node: "w0", Incarnation: 1}})
	if len(verdict.Actions.Send) != 1 || verdict.Actions.Send[0].Assignment.TaskID != "" {
		t.Errorf("actions %+v: want the stream closed up to what was given up", verdict.Actions)
	}
	if move := s.Next(0); move != Rest {
		t.Errorf("after the handshake: %v, want rest", move)
	}
}
