package scheduler

import (
	"errors"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func refusedBy(d Dispatch, code cluster.RefusalCode) *cluster.EnqueueReply {
	return &cluster.EnqueueReply{Refused: []cluster.Refusal{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number, Code: code,
		Message: "not now"}}}
}

// A refusal that is about the moment (draining, queue full) fails no task: without another candidate it
// waits and tries again, and gives up after ReplaceTimeout.
func TestPassingRefusalsWait(t *testing.T) {
	for _, code := range []cluster.RefusalCode{cluster.NodeDraining, cluster.QueueFull} {
		r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
		d := submit(t, r, time.Second, request("a", 1, 10, 100))
		if actions := r.Acknowledged(time.Second, []Dispatch{d}, refusedBy(d, code)); len(actions.Send) != 0 || r.Pending() != 1 {
			t.Fatalf("%v: actions %+v, %d pending: the task must wait", code, actions, r.Pending())
		}
		actions := r.Tick(2 * time.Second)
		if len(actions.Send) != 1 {
			t.Fatalf("%v: actions %+v: the task must be tried again", code, actions)
		}
		for now := 2 * time.Second; r.Pending() == 1 && now < time.Minute; now += time.Second {
			if len(actions.Send) == 1 {
				d = actions.Send[0]
				r.Acknowledged(now, []Dispatch{d}, refusedBy(d, code))
			}
			actions = r.Tick(now)
		}
		records, _ := collectAll(t, r, 0)
		if len(records) != 1 || records[0].Outcome != cluster.Lost || records[0].Makespan < 30*time.Second ||
			records[0].Makespan > 32*time.Second {
			t.Errorf("%v: records %+v: want it given up after 30 s", code, records)
		}
	}
}

// Without any candidate a submission is not refused for good: it may be repeated.
func TestNobodyTakesPlacementsNow(t *testing.T) {
	nodes := paperNodes(1)
	nodes[0].Draining = true
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	if err := r.Admit("", "client", 1); !errors.Is(err, cluster.Overloaded) {
		t.Errorf("%v, want overloaded", err)
	}
}

// Only a placement that this replica made can end a task.
func TestForgedCompletionsAreIgnored(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	d := submit(t, r, 0, request("a", 1, 10, 100))
	for _, change := range []func(n *cluster.CompletionNotice){
		func(n *cluster.CompletionNotice) { n.Node = "stranger" },
		func(n *cluster.CompletionNotice) { n.NodeIncarnation = 99 },
		func(n *cluster.CompletionNotice) { n.Completions[0].Number = 77 },
	} {
		n := &cluster.CompletionNotice{Node: d.nodeName(r), NodeIncarnation: 1, SchedulerIncarnation: testIncarnation,
			Completions: []cluster.Completion{{TaskID: "a", Number: d.Assignment.Number, Outcome: cluster.Finished}}}
		change(n)
		if _, err := r.Completed(0, n); err != nil || r.Pending() != 1 {
			t.Errorf("%+v ended the task (%v)", n, err)
		}
	}
}

// A worker that left the roster and returns as the same process goes on with its stream: what was given up
// is closed, and numbers continue.
func TestReturningWorkerKeepsItsStream(t *testing.T) {
	nodes := paperNodes(2)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	var away Dispatch
	for i := 0; away.Assignment.TaskID == "" || away.Node != 0; i++ {
		away = submit(t, r, 0, request(string(rune('a'+i)), 1, 10, 100))
	}
	number := away.Assignment.Number
	noAnswer(r, 0, pushed(t, r, 0, 2, nodes[1:]))
	pushed(t, r, 0, 3, nodes)
	index := r.nodes.byName["w0"]
	actions := r.Attached(0, index, "w0", &cluster.AttachReply{Incarnation: 1, Number: number - 1,
		Report: cluster.Report{Node: "w0", Incarnation: 1}})
	if len(actions.Send) != 1 || actions.Send[0].Assignment.TaskID != "" || actions.Send[0].Assignment.Number != number {
		t.Fatalf("actions %+v: want the stream healed up to %d", actions, number)
	}
	for i := range 50 {
		if d := submit(t, r, 0, request(string(rune('A'+i)), 1, 10, 100)); d.Node == index {
			if d.Assignment.Number != number+1 {
				t.Errorf("next number %d, want %d", d.Assignment.Number, number+1)
			}
			break
		}
	}
}

// When this replica has forgotten a stream that the worker remembers, it adopts the worker's account.
func TestForgottenStreamIsAdopted(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	remembered := cluster.Load{Tasks: 5, Duration: 500}
	r.Attached(0, 0, "w0", &cluster.AttachReply{Incarnation: 1, Number: 5, Report: cluster.Report{Node: "w0", Incarnation: 1,
		Received: []cluster.Received{{Scheduler: "s1", Incarnation: testIncarnation, Number: 5, Received: remembered}}}})
	if d := submit(t, r, 0, request("a", 1, 10, 100)); d.Assignment.Number != 6 || d.Placed.Tasks != 6 {
		t.Errorf("dispatch %+v: want number 6 and P of six tasks", d)
	}
}

// A task whose worker no longer knows it is placed again, or lost when it must not run twice; one that was
// acknowledged after the worker was asked is left alone.
func TestAudit(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	once := request("once", 1, 10, 100)
	once.AtMostOnce = true
	for i, s := range []*cluster.TaskSpec{request("kept", 1, 10, 100), request("gone", 1, 10, 100), once, request("late", 1, 10, 100)} {
		acknowledge(r, time.Duration(i)*time.Minute, submit(t, r, 0, s))
	}
	if got := r.Overdue(90*time.Second, time.Minute); len(got) != 1 {
		t.Fatalf("overdue nodes %v, want the one", got)
	}
	actions := r.Audited(4*time.Minute, 0, 1, 3*time.Minute, func(id string) bool { return id == "kept" })
	if len(actions.Send) != 1 || actions.Send[0].Assignment.TaskID != "gone" || r.Pending() != 3 {
		t.Errorf("actions %+v, %d pending: want only task gone placed again", actions, r.Pending())
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].ID != "once" || records[0].Outcome != cluster.Lost {
		t.Errorf("records %+v: want once lost", records)
	}
}
