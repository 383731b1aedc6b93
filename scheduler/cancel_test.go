package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// heldCancelled is a replica with a task of job j that its worker holds and that is to be cancelled.
func heldCancelled(t *testing.T) (*Replica, Dispatch) {
	t.Helper()
	r := jobReplica(t)
	d := runOf(t, r, 0, &cluster.Job{ID: "j"}, 0, nil)
	acknowledge(r, 0, d)
	if actions, n := r.CancelJob(1, cluster.Everybody, "j"); n != 1 || len(actions.Cancel) != 1 {
		t.Fatalf("%d tasks, %+v", n, actions.Cancel)
	}
	return r, d
}

// A cancel that was lost is told again: when the worker is back, when it says what it holds, and whenever somebody asks.
func TestLostCancelsAreToldAgain(t *testing.T) {
	r, d := heldCancelled(t)
	for name, again := range map[string]func() *Actions{
		"the worker is back": func() *Actions {
			r.Suspect(d.Node, 1)
			w := r.Node(d.Node).Name
			return r.Attached(2, d.Node, w, &cluster.AttachReply{Incarnation: 1, Number: d.Assignment.Number, Report: cluster.Report{Node: w}})
		},
		"the worker says what it holds": func() *Actions {
			return r.Audited(2, d.Node, 1, 1, func(string) bool { return true })
		},
		"somebody asks again": func() *Actions {
			actions, _ := r.CancelJob(2, cluster.Everybody, "j")
			return actions
		},
	} {
		if got := again().Cancel; len(got) != 1 || got[0].TaskID != "j.0" || got[0].Node != d.Node || !r.Stands(&got[0]) {
			t.Errorf("%s: cancels %+v", name, got)
		}
	}
	finish(t, r, 3, d, cluster.Cancelled)
	other := runOf(t, r, 3, &cluster.Job{ID: "j"}, 1, nil)
	acknowledge(r, 3, other)
	if got := r.Audited(time.Hour, other.Node, 1, 4, func(string) bool { return true }).Cancel; len(got) > 0 || r.cancelling != 0 {
		t.Errorf("nothing is to be cancelled: %+v, %d", got, r.cancelling)
	}
}

// A cancel that waited to be sent does not hit the task's next life.
func TestCancelsStandForOneLife(t *testing.T) {
	r, d := heldCancelled(t)
	call := CancelCall{Node: d.Node, TaskID: "j.0"}
	if !r.Stands(&call) {
		t.Fatal("it is to be cancelled")
	}
	finish(t, r, 2, d, cluster.Cancelled)
	if r.Stands(&call) {
		t.Error("it has ended")
	}
	for range 20 { // until it comes to the same worker
		actions, _, err := r.RetryJob(3, cluster.Everybody, "j")
		if err != nil || len(actions.Send) != 1 {
			t.Fatal(err, actions)
		}
		next := actions.Send[0]
		acknowledge(r, 3, next)
		if r.Stands(&call) {
			t.Fatal("it runs again, and nobody has cancelled that")
		}
		if next.Node == d.Node {
			return
		}
		finish(t, r, 3, next, cluster.Failed)
	}
}

// What still runs of a task that ended by an earlier placement is stopped, unless the task is there again by request.
func TestWhatIsOfNoUseIsStopped(t *testing.T) {
	r := jobReplica(t)
	first := runOf(t, r, 0, &cluster.Job{ID: "j"}, 0, nil)
	acknowledge(r, 0, first)
	second := r.NodeDown(0, first.Node, 1, first.Assignment.Number).Send[0]
	acknowledge(r, 0, second)
	calls := finish(t, r, 0, first, cluster.Failed).Cancel
	if len(calls) != 1 || calls[0].Node != second.Node {
		t.Fatalf("%+v", calls)
	}
	call := calls[0]
	if !r.Stands(&call) {
		t.Error("the second placement is not stopped")
	}
	for range 20 {
		actions, _, _ := r.RetryJob(0, cluster.Everybody, "j")
		next := actions.Send[0]
		if r.Stands(&call) != (next.Node != second.Node) {
			t.Errorf("node %d: stands %v", next.Node, r.Stands(&call))
		}
		finish(t, r, 0, next, cluster.Failed)
	}
}

// What is of no use is stopped when the task's end is durable: the next process would take it for an end that somebody asked for.
func TestAnEndIsDurableBeforeAnythingIsStoppedForIt(t *testing.T) {
	r := restored(t, keeping(testConfig(), testIncarnation, 0), paperPolicy(t), disk{})
	nodes := paperNodes(5)
	if _, err := r.Push(0, snapshotOf(1, nodes, make([]cluster.Load, len(nodes)))); err != nil {
		t.Fatal(err)
	}
	first := runOf(t, r, 0, &cluster.Job{ID: "j"}, 0, nil)
	acknowledge(r, 0, first)
	second := r.NodeDown(0, first.Node, 1, first.Assignment.Number).Send[0]
	acknowledge(r, 0, second)
	_, before := r.Changes(nil)
	r.Synced(before)
	calls := finish(t, r, 0, first, cluster.Finished).Cancel
	if len(calls) != 1 || calls[0].Node != second.Node {
		t.Fatalf("%+v", calls)
	}
	call := calls[0]
	if r.Leaves(&call) {
		t.Error("it leaves before the end is durable")
	}
	_, upTo := r.Changes(nil)
	if r.Synced(upTo); !r.Leaves(&call) || !r.Stands(&call) {
		t.Error("it stays for ever")
	}
}

// A worker that stopped a task that nobody here wanted stopped has not ended it: it runs elsewhere, unless it must not run twice.
func TestNobodyAskedForThatCancel(t *testing.T) {
	for _, once := range []bool{false, true} {
		r := jobReplica(t)
		spec := request("t", 1, 1, 1000)
		spec.AtMostOnce = once
		actions, refusal := r.Submit(0, "c", spec)
		if refusal != nil {
			t.Fatal(refusal)
		}
		d := actions.Send[0]
		acknowledge(r, 0, d)
		actions, err := r.Completed(1, &cluster.CompletionNotice{SchedulerIncarnation: testIncarnation, Node: r.Node(d.Node).Name,
			NodeIncarnation: d.NodeIncarnation, Completions: []cluster.Completion{{TaskID: "t", Number: d.Assignment.Number,
				Outcome: cluster.Cancelled, Run: time.Second}}})
		if err != nil {
			t.Fatal(err)
		}
		if again := len(actions.Send) == 1; again == once || again != (r.Pending() == 1) {
			t.Errorf("at most once %v: %d placements, %d tasks are open", once, len(actions.Send), r.Pending())
		}
		if e := r.results.byID["t"]; once && (e == nil || e.record.Outcome != cluster.Lost) {
			t.Errorf("it is not lost: %+v", e)
		}
	}
}
