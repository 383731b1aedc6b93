package scheduler

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A refused task goes to the next candidate, never to one that refused it, and fails with the reason
// after the last attempt.
func TestRefusedTaskTriesOthers(t *testing.T) {
	cfg := testConfig()
	cfg.MaxAttempts = 3
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(10))
	d := submit(t, r, 0, request("a", 1, 10, 100))
	tried := map[int]bool{}
	for attempt := 1; attempt <= 3; attempt++ {
		if tried[d.Node] {
			t.Fatalf("attempt %d went to node %d again", attempt, d.Node)
		}
		tried[d.Node] = true
		actions := r.Acknowledged(0, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{
			{TaskID: "a", Number: d.Assignment.Number, Code: cluster.NeverFits, Message: "too large for me"}}})
		if attempt < 3 {
			if len(actions.Send) != 1 {
				t.Fatalf("attempt %d: not placed again", attempt)
			}
			d = actions.Send[0]
		}
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Outcome != cluster.Failed || records[0].Attempts != 3 ||
		!strings.Contains(records[0].Reason, "too large for me") {
		t.Errorf("records %+v: want one failure with the worker's reason", records)
	}
}

// A worker that restarts loses its tasks: they are placed again, and the stream starts at number 1.
func TestRestartedWorkerLosesItsTasks(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	a, b := submit(t, r, 0, request("a", 1, 10, 100)), submit(t, r, 0, request("b", 1, 10, 100))
	acknowledge(r, 0, a)
	actions := r.Attached(ms, 0, "w0", &cluster.AttachReply{Incarnation: 2})
	if len(actions.Send) != 2 || len(actions.Connect) != 1 {
		t.Fatalf("actions %+v: want both tasks placed again on a new stream", actions)
	}
	for i, d := range actions.Send {
		if d.NodeIncarnation != 2 || d.Assignment.Number != int64(i+1) || d.Placed.Tasks != int64(i+1) {
			t.Errorf("dispatch %d: %+v: want number %d of a new stream", i, d, i+1)
		}
	}
	acknowledge(r, ms, b) // an answer of the old process must not count
	if got := r.tasks["b"].phase; got != cluster.Sent {
		t.Errorf("task b is %v after the old process's answer, want sent", got)
	}
}

// A task that must not run twice ends as lost when it may have started; one that never left is placed
// again.
func TestAtMostOnce(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	var ds []Dispatch
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		s := request(id, 1, 10, 100)
		s.AtMostOnce = true
		ds = append(ds, submit(t, r, 0, s))
	}
	gone := ds[0].Node
	var onGone []Dispatch
	for _, d := range ds {
		if d.Node == gone {
			onGone = append(onGone, d)
		}
	}
	if len(onGone) < 2 {
		t.Fatalf("the seed put only %d tasks on node %d", len(onGone), gone)
	}
	actions := r.NodeDown(ms, gone, 1, 1)
	if len(actions.Send) != len(onGone)-1 {
		t.Errorf("%d tasks placed again, want %d: all but the one that was attempted", len(actions.Send), len(onGone)-1)
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Outcome != cluster.Lost || records[0].ID != onGone[0].Assignment.TaskID {
		t.Errorf("records %+v: want %s lost", records, onGone[0].Assignment.TaskID)
	}
}

// A task whose machine was lost waits for a feasible node, and gives up after ReplaceTimeout.
func TestStrandedTasks(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	for _, id := range []string{"a", "b"} {
		acknowledge(r, 0, submit(t, r, 0, request(id, 1, 10, 100)))
	}
	r.NodeDown(ms, 0, 1, 2)
	if actions := r.Tick(10 * time.Second); len(actions.Send) != 0 || r.Pending() != 2 {
		t.Fatal("the tasks must wait while no node is feasible")
	}
	if _, found := r.Cancel(11*time.Second, cluster.Everybody, "b"); !found {
		t.Error("a waiting task can be cancelled")
	}
	if actions := r.Attached(12*time.Second, 0, "w0", &cluster.AttachReply{Incarnation: 2}); len(actions.Send) != 1 {
		t.Fatalf("actions %+v: want task a placed on the returned worker", actions)
	}
	r.NodeDown(13*time.Second, 0, 2, 1)
	r.Tick(44 * time.Second)
	records, _ := collectAll(t, r, 0)
	if len(records) != 2 || records[0].Outcome != cluster.Cancelled || records[1].Outcome != cluster.Lost {
		t.Errorf("records %+v: want b cancelled, a lost", records)
	}
}

// A worker that was only out of reach closes the placements that went elsewhere: a dispatch without a
// task brings its R up to the scheduler's P.
func TestHealingAStream(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	d := submit(t, r, 0, request("a", 1, 10, 100))
	r.Suspect(d.Node, 1)
	if got := submit(t, r, 0, request("b", 1, 10, 100)); got.Node == d.Node {
		t.Error("a suspected worker got a task")
	}
	if actions := r.NodeDown(ms, d.Node, 1, 1); len(actions.Send) != 1 || actions.Send[0].Node == d.Node {
		t.Fatalf("actions %+v: want the task on the other node", actions)
	}
	actions := r.Attached(2*ms, d.Node, d.nodeName(r), &cluster.AttachReply{Incarnation: 1, Number: 0})
	if len(actions.Send) != 1 || actions.Send[0].Assignment.TaskID != "" || actions.Send[0].Assignment.Number != 1 ||
		actions.Send[0].Placed.Tasks != 1 {
		t.Fatalf("actions %+v: want a dispatch without a task at number 1", actions)
	}
	if len(r.view.candidates) != 2 {
		t.Error("the worker that answers again must be a candidate")
	}
}

// The first terminal state wins, whichever attempt it comes from; the other attempt is stopped.
func TestLateCompletionOfAnEarlierAttempt(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	d := submit(t, r, 0, request("a", 1, 10, 100))
	acknowledge(r, 0, d)
	second := r.NodeDown(ms, d.Node, 1, 1).Send[0]
	actions := finish(t, r, 2*ms, d, cluster.Finished)
	if len(actions.Cancel) != 1 || actions.Cancel[0].Node != second.Node {
		t.Errorf("actions %+v: want the second attempt cancelled", actions)
	}
	finish(t, r, 3*ms, second, cluster.Cancelled)
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Outcome != cluster.Finished {
		t.Errorf("records %+v: want exactly one, finished", records)
	}
}

// A restarted data service learns of its workers one by one. None of them counts as gone before it had
// the time to register; one that stays away does.
func TestRestartedDataServiceLosesNobody(t *testing.T) {
	cfg := testConfig()
	cfg.RosterGrace = 5 * time.Second
	nodes := paperNodes(3)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	d := submit(t, r, 0, request("a", 1, 10, 100))
	acknowledge(r, 0, d)
	restarted := func(version int64, known []cluster.Node) *cluster.Snapshot {
		s := snapshotOf(version, known, make([]cluster.Load, len(known)))
		s.Incarnation = 2
		return s
	}
	away := d.Node
	var early []cluster.Node
	for i, n := range nodes {
		if i != away {
			early = append(early, n)
		}
	}
	actions, err := r.Push(time.Second, restarted(1, early[:1]))
	if err != nil || len(actions.Send) != 0 || len(actions.Drop) != 0 || len(r.view.candidates) != 3 {
		t.Fatalf("%v; actions %+v, %d candidates: nobody is gone yet", err, actions, len(r.view.candidates))
	}
	if actions, err = r.Push(2*time.Second, restarted(2, early)); err != nil || len(actions.Drop) != 0 {
		t.Fatalf("%v; actions %+v: nobody is gone yet", err, actions)
	}
	dropped := noAnswer(r, 7*time.Second, r.Tick(7*time.Second))
	if actions = &dropped; len(actions.Drop) != 1 || actions.Drop[0] != away || len(actions.Send) != 1 || actions.Send[0].Node == away {
		t.Errorf("actions %+v: want node %d dropped and its task placed again", actions, away)
	}
}

// Without a restart, a worker that is not in the roster any more is gone as soon as this replica cannot reach it either.
func TestDepartedWorkersTasksArePlacedAgain(t *testing.T) {
	nodes := paperNodes(2)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	d := submit(t, r, 0, request("a", 1, 10, 100))
	stays := nodes[1-d.Node]
	actions := noAnswer(r, 0, pushed(t, r, 0, 2, []cluster.Node{stays}))
	if len(actions.Drop) != 1 || len(actions.Send) != 1 || r.Node(actions.Send[0].Node).Name != stays.Name {
		t.Errorf("actions %+v: want the task on %s", actions, stays.Name)
	}
}
