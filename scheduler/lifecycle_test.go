package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

const ms = time.Millisecond

// "Every accepted submission reaches exactly one terminal state that its submitter can read", with the
// intervals of Sec. 5: scheduling latency to the acknowledgement, makespan to the completion.
func TestLifeOfATask(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(4))
	d := submit(t, r, 10*ms, request("a", 2, 512, 1500))
	if d.Assignment.Number != 1 || d.Placed.Tasks != 1 || d.Placed.Duration != 1500 || d.Placed.Work != 2000*1500 {
		t.Errorf("dispatch %+v: want number 1 and the cumulative vector of one task", d)
	}
	acknowledge(r, 12*ms, d)
	if ready := finish(t, r, 1600*ms, d, cluster.Finished); !ready.Wake {
		t.Error("the end of a task must wake collectors")
	}
	records, cursor := collectAll(t, r, 0)
	if len(records) != 1 {
		t.Fatalf("%d records, want 1", len(records))
	}
	got := records[0]
	if got.Outcome != cluster.Finished || got.Scheduling != 2*ms || got.Makespan != 1590*ms || got.Attempts != 1 || got.Worker != d.nodeName(r) {
		t.Errorf("record %+v", got)
	}
	if again, _ := collectAll(t, r, cursor); len(again) != 0 {
		t.Errorf("%d records after the cursor, want none", len(again))
	}
	finish(t, r, 2000*ms, d, cluster.Failed)
	if s := r.Statistics(); s.Outcomes[cluster.Finished] != 1 || s.Outcomes[cluster.Failed] != 0 || s.Pending != 0 {
		t.Errorf("a repeated notice changed the outcome: %+v", s)
	}
}

func (d *Dispatch) nodeName(r *Replica) string { return r.Node(d.Node).Name }

// A short task's completion may overtake the acknowledgement; its scheduling latency is then what the
// worker does not account for.
func TestCompletionOvertakesTheAcknowledgement(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	d := submit(t, r, 0, request("a", 1, 1, 1))
	finish(t, r, 1003*ms, d, cluster.Finished)
	acknowledge(r, 1004*ms, d)
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Scheduling != 3*ms {
		t.Errorf("records %+v: want one with 3 ms of scheduling latency", records)
	}
}

// "b_Δ counts one scheduler's placements": a delta after every eighth, with the cumulative vector of
// every worker touched (Algorithm 1, lines 5-7).
func TestPaperFlushEveryBDelta(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(100))
	for i := 1; i <= 80; i++ {
		ready, _ := r.Submit(0, "client", request(fmt.Sprint(i), 1, 10, 100))
		if flushed := len(ready.Flush) == 1; flushed != (i%8 == 0) {
			t.Fatalf("placement %d: flushed = %v", i, flushed)
		}
		if i%8 != 0 {
			continue
		}
		delta := ready.Flush[0]
		if delta.Decisions != int64(i) || len(delta.Placed) == 0 || len(delta.Placed) > 8 {
			t.Fatalf("placement %d: delta %+v", i, delta)
		}
		for _, p := range delta.Placed {
			if p.Number != p.Placed.Tasks || p.Placed.Duration != 100*p.Number {
				t.Errorf("worker %s: number %d with vector %+v", p.Node, p.Number, p.Placed)
			}
		}
	}
}

// A delta that did not arrive is not queued: its workers are in the next one, with everything.
func TestFailedFlushIsCoveredByTheNext(t *testing.T) {
	cfg := testConfig()
	cfg.DeltaBatch = 1
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(1))
	ready, _ := r.Submit(0, "c", request("a", 1, 10, 100))
	r.FlushFailed(ready.Flush[0])
	ready, _ = r.Submit(0, "c", request("b", 1, 10, 100))
	p := ready.Flush[0].Placed
	if len(p) != 1 || p[0].Number != 2 || p[0].Placed.Tasks != 2 || ready.Flush[0].Decisions != 2 {
		t.Errorf("delta %+v: want both placements", ready.Flush[0])
	}
}

// Deltas that wait for a busy data service travel as one; of each worker the newest P says everything.
func TestMergedDeltasSayTheSame(t *testing.T) {
	cfg := testConfig()
	cfg.DeltaBatch = 1
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(3))
	var waiting []*cluster.Delta
	newest := map[string]cluster.Placed{}
	for i := range 20 {
		ready, _ := r.Submit(0, "c", request(fmt.Sprint(i), 1, 10, 100))
		waiting = append(waiting, ready.Flush[0])
		for _, p := range ready.Flush[0].Placed {
			newest[p.Node] = p
		}
	}
	merged := Merge(waiting)
	if merged.Decisions != 20 || len(merged.Placed) != len(newest) {
		t.Fatalf("merged %+v, want 20 decisions on %d workers", merged, len(newest))
	}
	for _, p := range merged.Placed {
		if p != newest[p.Node] {
			t.Errorf("worker %s: %+v, newest is %+v", p.Node, p, newest[p.Node])
		}
	}
}

// With a staleness bound a half-full batch is flushed by time; without one (the paper) it is not.
func TestMaxStalenessFlushes(t *testing.T) {
	for _, bound := range []time.Duration{0, time.Second} {
		cfg := testConfig()
		cfg.MaxStaleness = bound
		r := replicaWith(t, cfg, paperPolicy(t), paperNodes(3))
		submit(t, r, 10*ms, request("a", 1, 10, 100))
		if ready := r.Tick(500 * ms); len(ready.Flush) != 0 {
			t.Errorf("bound %v: flushed after half a second", bound)
		}
		if ready := r.Tick(2 * time.Second); len(ready.Flush) == 1 != (bound > 0) {
			t.Errorf("bound %v: %d flushes after two seconds", bound, len(ready.Flush))
		}
		if ready := r.Tick(4 * time.Second); len(ready.Flush) != 0 {
			t.Errorf("bound %v: flushed again though nothing changed", bound)
		}
	}
}

// The paper's view is the snapshot alone; with self-correction it is the snapshot plus the own
// placements that the snapshot does not include.
func TestSelfCorrection(t *testing.T) {
	for _, correct := range []bool{false, true} {
		cfg := testConfig()
		cfg.SelfCorrection = correct
		nodes := paperNodes(1)
		r := replicaWith(t, cfg, paperPolicy(t), nodes)
		for i := range 3 {
			submit(t, r, 0, request(fmt.Sprint(i), 1, 10, 100))
		}
		if got, want := r.view.nodes[0].Load.Tasks, map[bool]int64{false: 0, true: 3}[correct]; got != want {
			t.Errorf("self-correction %v: view has %d tasks before a snapshot, want %d", correct, got, want)
		}
		s := snapshotOf(2, nodes, []cluster.Load{{Tasks: 5, Duration: 500}})
		s.OwnNumber[0] = 2
		if _, err := r.Push(0, s); err != nil {
			t.Fatal(err)
		}
		if got, want := r.view.nodes[0].Load.Tasks, map[bool]int64{false: 5, true: 6}[correct]; got != want {
			t.Errorf("self-correction %v: view has %d tasks; the snapshot has 5 and includes own placement 2 of 3", correct, got)
		}
	}
}

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
		ready := r.Acknowledged(0, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{
			{TaskID: "a", Number: d.Assignment.Number, Code: cluster.NeverFits, Message: "too large for me"}}})
		if attempt < 3 {
			if len(ready.Send) != 1 {
				t.Fatalf("attempt %d: not placed again", attempt)
			}
			d = ready.Send[0]
		}
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 1 || records[0].Outcome != cluster.Failed || records[0].Attempts != 3 || !strings.Contains(records[0].Reason, "too large for me") {
		t.Errorf("records %+v: want one failure with the worker's reason", records)
	}
}

// A worker that restarts loses its tasks: they are placed again, and the stream starts at number 1.
func TestRestartedWorkerLosesItsTasks(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	a, b := submit(t, r, 0, request("a", 1, 10, 100)), submit(t, r, 0, request("b", 1, 10, 100))
	acknowledge(r, 0, a)
	ready := r.Attached(ms, 0, "w0", &cluster.AttachReply{Incarnation: 2})
	if len(ready.Send) != 2 || len(ready.Connect) != 1 {
		t.Fatalf("ready %+v: want both tasks placed again on a new stream", ready)
	}
	for i, d := range ready.Send {
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
	ready := r.NodeDown(ms, gone, 1, 1)
	if len(ready.Send) != len(onGone)-1 {
		t.Errorf("%d tasks placed again, want %d: all but the one that was attempted", len(ready.Send), len(onGone)-1)
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
	if ready := r.Tick(10 * time.Second); len(ready.Send) != 0 || r.Pending() != 2 {
		t.Fatal("the tasks must wait while no node is feasible")
	}
	if _, found := r.Cancel(11*time.Second, "b"); !found {
		t.Error("a waiting task can be cancelled")
	}
	if ready := r.Attached(12*time.Second, 0, "w0", &cluster.AttachReply{Incarnation: 2}); len(ready.Send) != 1 {
		t.Fatalf("ready %+v: want task a placed on the returned worker", ready)
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
	if ready := r.NodeDown(ms, d.Node, 1, 1); len(ready.Send) != 1 || ready.Send[0].Node == d.Node {
		t.Fatalf("ready %+v: want the task on the other node", ready)
	}
	ready := r.Attached(2*ms, d.Node, d.nodeName(r), &cluster.AttachReply{Incarnation: 1, Number: 0})
	if len(ready.Send) != 1 || ready.Send[0].Assignment.TaskID != "" || ready.Send[0].Assignment.Number != 1 || ready.Send[0].Placed.Tasks != 1 {
		t.Fatalf("ready %+v: want a dispatch without a task at number 1", ready)
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
	ready := finish(t, r, 2*ms, d, cluster.Finished)
	if len(ready.Cancel) != 1 || ready.Cancel[0].Node != second.Node {
		t.Errorf("ready %+v: want the second attempt cancelled", ready)
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
	ready, err := r.Push(time.Second, restarted(1, early[:1]))
	if err != nil || len(ready.Send) != 0 || len(ready.Drop) != 0 || len(r.view.candidates) != 3 {
		t.Fatalf("%v; ready %+v, %d candidates: nobody is gone yet", err, ready, len(r.view.candidates))
	}
	if ready, err = r.Push(2*time.Second, restarted(2, early)); err != nil || len(ready.Drop) != 0 {
		t.Fatalf("%v; ready %+v: nobody is gone yet", err, ready)
	}
	ready = r.Tick(7 * time.Second)
	if len(ready.Drop) != 1 || ready.Drop[0] != away || len(ready.Send) != 1 || ready.Send[0].Node == away {
		t.Errorf("ready %+v: want node %d dropped and its task placed again", ready, away)
	}
}

// Without a restart, a worker that leaves the roster is gone at once.
func TestDepartedWorkersTasksArePlacedAgain(t *testing.T) {
	nodes := paperNodes(2)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	d := submit(t, r, 0, request("a", 1, 10, 100))
	stays := nodes[1-d.Node]
	ready, err := r.Push(0, snapshotOf(2, []cluster.Node{stays}, []cluster.Load{{}}))
	if err != nil || len(ready.Drop) != 1 || len(ready.Send) != 1 || r.Node(ready.Send[0].Node).Name != stays.Name {
		t.Errorf("%v; ready %+v: want the task on %s", err, ready, stays.Name)
	}
}
