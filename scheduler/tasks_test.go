package scheduler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A replica takes as many tasks as it has room for, and no more; every refusal is counted once.
func TestRoomAndRefusals(t *testing.T) {
	cfg := testConfig()
	cfg.MaxPending = 3
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(1))
	submit(t, r, 0, request("a", 1, 1, 1))
	if err := r.Admit("", "client", 2); err != nil {
		t.Errorf("two more into room for three: %v", err)
	}
	if err := r.Admit("", "client", 3); !errors.Is(err, cluster.Overloaded) {
		t.Errorf("three more into room for three: %v", err)
	}
	unknown := request("b", 1, 1, 1)
	unknown.Type = "unknown"
	for i, s := range []*cluster.TaskSpec{request("a", 1, 1, 1), unknown, request("c", 1000, 1, 1)} {
		if _, refusal := r.Submit(0, "client", s); refusal == nil || r.Statistics().Refused != int64(i+1) || r.Pending() != 1 {
			t.Errorf("%s: %v, %d refused, %d pending; want it refused as number %d", s.ID, refusal, r.Statistics().Refused, r.Pending(), i+1)
		}
	}
}

// A waiting task leaves as soon as a roster brings a worker that can take it.
func TestWaitingTasksTakeANewcomer(t *testing.T) {
	nodes := paperNodes(2)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes[:1])
	d := submit(t, r, 0, request("a", 1, 1, 1))
	r.NodeDown(0, 0, 1, d.Assignment.Number)
	ready, err := r.Push(0, snapshotOf(2, nodes, make([]cluster.Load, 2)))
	if err != nil || len(ready.Send) != 1 || r.Node(ready.Send[0].Node).Name != "w1" {
		t.Errorf("%+v, %v: want the task on the newcomer", ready, err)
	}
}

// A waiting task that was cancelled is over: nothing of it comes back, whatever else is submitted.
func TestCancelledWhileWaiting(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	d := submit(t, r, 0, request("a", 1, 1, 1))
	r.Acknowledged(time.Second, []Dispatch{d}, refusedBy(d, cluster.QueueFull))
	r.Cancel(time.Second, cluster.Everybody, "a")
	if _, refusal := r.Submit(time.Second, "client", request("b", 1000, 1, 1)); refusal == nil {
		t.Fatal("a task that fits nowhere was accepted")
	}
	r.Tick(time.Hour)
	if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].ID != "a" || r.Pending() != 0 {
		t.Errorf("records %+v, %d pending: want the cancelled task alone", records, r.Pending())
	}
}

// The memory of an ended task serves the next one, but not while a policy may still wait for a probe for it.
func TestMemoryOfEndedTasks(t *testing.T) {
	for what, c := range map[string]struct {
		policy Policy
		reused bool
	}{"cached": {paperPolicy(t), true}, "probing": {uncached{paperPolicy(t)}, false}} {
		r := replicaWith(t, testConfig(), c.policy, paperNodes(1))
		d := submit(t, r, 0, request("a", 1, 1, 1))
		first := r.tasks["a"]
		finish(t, r, 0, d, cluster.Finished)
		submit(t, r, 0, request("b", 1, 1, 1))
		if got := r.tasks["b"] == first; got != c.reused {
			t.Errorf("%s: used again: %v, want %v", what, got, c.reused)
		}
	}
}

// A task that no worker takes, or that was cancelled, has no exit code, which is -1; every further placement is a retry.
func TestExitCodesAndRetries(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	for _, code := range []cluster.RefusalCode{cluster.InvalidTask, cluster.Unsupported} {
		d := submit(t, r, 0, request(fmt.Sprint(code), 1, 1, 1))
		again := r.Acknowledged(0, []Dispatch{d}, refusedBy(d, code)).Send
		if len(again) != 1 || again[0].Node == d.Node {
			t.Fatalf("%v: %+v, want the other worker", code, again)
		}
		r.Acknowledged(0, again, refusedBy(again[0], code))
	}
	d := submit(t, r, 0, request("cancelled", 1, 1, 1))
	r.Cancel(0, cluster.Everybody, "cancelled")
	r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.InvalidTask))
	d = submit(t, r, 0, request("moved", 1, 1, 1))
	r.NodeDown(0, d.Node, 1, 0)
	records, _ := collectAll(t, r, 0)
	for i, want := range []cluster.Outcome{cluster.Failed, cluster.Failed, cluster.Cancelled} {
		if i >= len(records) || records[i].Outcome != want || records[i].ExitCode != -1 {
			t.Fatalf("records %+v: number %d is to be %v, without an exit code", records, i, want)
		}
	}
	if got := r.Statistics().Retries; got != 3 {
		t.Errorf("%d retries, want 3", got)
	}
}

// Every further placement of a task is its next attempt, whatever ended the one before.
func TestAttemptsAreNumbered(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(3))
	d := submit(t, r, 0, request("a", 1, 1, 1))
	for want := range 3 {
		if got := int(r.tasks["a"].spec.Attempt); got != want {
			t.Errorf("attempt %d, want %d", got, want)
		}
		if want == 0 {
			d = r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.InvalidTask)).Send[0]
		} else {
			r.NodeDown(0, d.Node, 1, d.Assignment.Number)
		}
	}
}

// A task that no worker takes for ReplaceTimeout is lost at that moment, and not before.
func TestWaitingEnds(t *testing.T) {
	for after, want := range map[time.Duration]int{30*time.Second - 1: 1, 30 * time.Second: 0} {
		r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
		d := submit(t, r, time.Hour, request("a", 1, 1, 1))
		r.NodeDown(time.Hour, 0, 1, d.Assignment.Number)
		if r.Tick(time.Hour + after); r.Pending() != want {
			t.Errorf("%v later %d tasks are pending, want %d", after, r.Pending(), want)
		}
	}
}

// The last of MaxAttempts refusals fails a task, whoever might still take it.
func TestTheLastRefusalFails(t *testing.T) {
	cfg := testConfig()
	cfg.MaxAttempts = 2
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(5))
	d := submit(t, r, 0, request("a", 1, 1, 1))
	d = r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.InvalidTask)).Send[0]
	r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.InvalidTask))
	if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].Outcome != cluster.Failed || records[0].ExitCode != -1 {
		t.Errorf("records %+v: want it failed", records)
	}
}

// pairing keeps every first task and places it with the next one, the first on node 0 and the next on node 1.
type pairing struct {
	uncached
	first *cluster.Task
}

func (p *pairing) Submit(_ time.Duration, t *cluster.Task, _ *View) Decision {
	if p.first == nil {
		p.first = t
		return Decision{Probe: []ProbeCall{{Task: t, Node: 0}}}
	}
	return Decision{Place: []Placement{{Task: p.first, Node: 0}, {Task: t, Node: 1}}}
}

// A policy that is asked about one task may place others as well, each where it says.
func TestADecisionAboutSeveralTasks(t *testing.T) {
	r := replicaWith(t, testConfig(), &pairing{}, paperNodes(2))
	for _, want := range [][]string{nil, {"a", "b"}} {
		ready, refusal := r.Submit(0, "client", request([]string{"a", "b"}[len(want)/2], 1, 1, 1))
		if refusal != nil || len(ready.Send) != len(want) {
			t.Fatal(refusal, ready.Send)
		}
		for i, d := range ready.Send {
			if d.Assignment.TaskID != want[i] || d.Node != i {
				t.Errorf("%s goes to node %d, want %s on %d", d.Assignment.TaskID, d.Node, want[i], i)
			}
		}
	}
}

// hesitant places a task when a probe for it is answered, and every time that one is.
type hesitant struct{ uncached }

func (hesitant) Submit(_ time.Duration, t *cluster.Task, _ *View) Decision {
	return Decision{Probe: []ProbeCall{{Task: t, Node: 0}}}
}

func (hesitant) Probed(_ time.Duration, p Probe, _ *View) Decision {
	return Decision{Place: []Placement{{Task: p.Task, Node: p.Node}}}
}

// A task is placed once, however many probes are answered for it, and not at all when it has ended meanwhile.
func TestLateProbesPlaceNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), hesitant{}, paperNodes(2))
	var asked [2]Probe
	for i, id := range []string{"a", "b"} {
		ready, refusal := r.Submit(0, "client", request(id, 1, 1, 1))
		if refusal != nil || len(ready.Probe) != 1 {
			t.Fatal(refusal, ready)
		}
		asked[i] = Probe{Task: ready.Probe[0].Task, Node: 0}
	}
	for i, want := range []int{1, 0} {
		if got := len(r.Probed(0, asked[0]).Send); got != want {
			t.Errorf("answer %d: %d placements, want %d", i+1, got, want)
		}
	}
	r.Cancel(0, cluster.Everybody, "b")
	if got := len(r.Probed(0, asked[1]).Send); got != 0 {
		t.Errorf("%d placements of a cancelled task", got)
	}
}

// An answer to several placements counts for each of them, whatever became of the ones before.
func TestAcknowledgementsBehindAnEndedTask(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	a, b := submit(t, r, 0, request("a", 1, 1, 1)), submit(t, r, 0, request("b", 1, 1, 1))
	finish(t, r, 0, a, cluster.Finished)
	r.Acknowledged(0, []Dispatch{a, b}, &cluster.EnqueueReply{})
	if got := r.Query(cluster.TaskQuery{ID: "b"})[0].Phase; got != cluster.Accepted {
		t.Errorf("the second task is %v", got)
	}
}

// A message without placements, such as a handshake's, acknowledges nothing.
func TestNothingIsAcknowledged(t *testing.T) {
	r := replicaWith(t, testConfig(), freshest{paperPolicy(t)}, paperNodes(1))
	if ready := r.Acknowledged(0, nil, &cluster.EnqueueReply{}); len(ready.Send) > 0 {
		t.Errorf("%+v", ready)
	}
}

// A roster says that a worker's present process drains; what it says of an earlier one says nothing.
func TestDrainingIsOfAProcess(t *testing.T) {
	nodes := paperNodes(2)
	nodes[0].Incarnation = 5
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	for i, c := range []struct {
		incarnation int64
		draining    bool
		candidates  int
	}{{4, true, 2}, {5, true, 1}, {4, false, 1}, {5, false, 2}} {
		nodes[0].Incarnation, nodes[0].Draining = c.incarnation, c.draining
		if _, err := r.Push(0, snapshotOf(int64(i+2), nodes, make([]cluster.Load, 2))); err != nil {
			t.Fatal(err)
		}
		if got := r.Statistics().Candidates; got != c.candidates {
			t.Errorf("process %d drains: %v; %d candidates, want %d", c.incarnation, c.draining, got, c.candidates)
		}
	}
}
