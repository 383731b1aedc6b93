package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func attachReply(node string, incarnation, number int64, received ...cluster.Received) *cluster.AttachReply {
	return &cluster.AttachReply{Incarnation: incarnation, Number: number,
		Report: cluster.Report{Node: node, Incarnation: incarnation, Received: received}}
}

// An answer to the handshake of a worker that is gone, or that has another's place now, changes nothing.
func TestAnswersOfStrangersChangeNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	for index, name := range []string{"w1", "w0", "w2"} {
		if ready := r.Attached(0, index, name, attachReply(name, 99, 5)); len(ready.Connect)+len(ready.Send) > 0 {
			t.Errorf("%s at %d: %+v", name, index, ready)
		}
	}
	if r.Node(0).Incarnation != 1 || r.Node(1).Incarnation != 1 {
		t.Error("a stranger's process took the place of a worker's")
	}
}

// A worker that knows more of a stream than this replica is believed, but only about the stream of this process.
func TestResumedStreams(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	load := cluster.Load{Tasks: 7, Duration: 70}
	r.Attached(0, 0, "w0", attachReply("w0", 1, 7,
		cluster.Received{Scheduler: "s1", Incarnation: testIncarnation, Number: 7, Received: load},
		cluster.Received{Scheduler: "s2", Incarnation: testIncarnation, Number: 8},
		cluster.Received{Scheduler: "s1", Incarnation: testIncarnation - 1, Number: 9}))
	d := submit(t, r, 0, request("a", 1, 1, 30))
	if d.Assignment.Number != 8 || d.Placed.Tasks != 8 || d.Placed.Duration != 100 {
		t.Errorf("%+v: want number 8, behind the seven that the worker has", d)
	}
}

// A handshake that tells nothing new leaves the own placements in the view that no snapshot includes yet.
func TestAHandshakeKeepsOwnPlacements(t *testing.T) {
	cfg := testConfig()
	cfg.SelfCorrection = true
	nodes := paperNodes(1)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	submit(t, r, 0, request("a", 1, 1, 1))
	r.Attached(0, 0, "w0", attachReply("w0", 1, 1, cluster.Received{Scheduler: "s1", Incarnation: testIncarnation, Number: 1}))
	if _, err := r.Push(0, snapshotOf(2, nodes, make([]cluster.Load, 1))); err != nil {
		t.Fatal(err)
	}
	if got := r.View().Node(0).Load.Tasks; got != 1 {
		t.Errorf("the view has %d tasks, want the one that the snapshot does not include", got)
	}
}

// A failure to reach a worker's former process says nothing about the present one.
func TestSuspectIsAProcess(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	for _, c := range []struct {
		index       int
		incarnation int64
		candidates  int
	}{{0, 0, 1}, {1, 1, 1}, {-1, 1, 1}, {0, 1, 0}} {
		if r.Suspect(c.index, c.incarnation); r.Statistics().Candidates != c.candidates {
			t.Errorf("worker %d, process %d is suspect: %d candidates, want %d", c.index, c.incarnation, r.Statistics().Candidates, c.candidates)
		}
	}
}

// A worker that leaves and returns goes on with its stream; as a newer process, or after it was away for twenty
// graces, it starts a new one.
func TestReturningWorkers(t *testing.T) {
	const grace = time.Minute
	for _, c := range []struct {
		what        string
		incarnation int64
		away        time.Duration
		want        int64 // number of the next placement
	}{
		{"the same process", 1, 20 * grace, 2},
		{"a newer process", 2, 1, 1},
		{"the same process after long", 1, 20*grace + 1, 1},
	} {
		cfg := testConfig()
		cfg.RosterGrace = grace
		nodes := paperNodes(1)
		r := replicaWith(t, cfg, paperPolicy(t), nodes)
		finish(t, r, 0, submit(t, r, 0, request("a", 1, 1, 1)), cluster.Finished)
		noAnswer(r, time.Hour, pushed(t, r, time.Hour, 2, nil))
		r.Tick(time.Hour + c.away)
		nodes[0].Incarnation = c.incarnation
		if _, err := r.Push(time.Hour+c.away, snapshotOf(3, nodes, make([]cluster.Load, 1))); err != nil {
			t.Fatal(err)
		}
		if d := submit(t, r, time.Hour+c.away, request("b", 1, 1, 1)); d.Assignment.Number != c.want {
			t.Errorf("%s: placement %d, want %d", c.what, d.Assignment.Number, c.want)
		}
	}
}

// An away data service is tried more often than one is looked at that is there; neither without a pause.
func TestPausesOfRegistration(t *testing.T) {
	if cluster.RegisterEvery <= 0 || checkEvery <= cluster.RegisterEvery {
		t.Errorf("registers every %v, looks every %v", cluster.RegisterEvery, checkEvery)
	}
}

// A snapshot made before the data service heard of a worker's new process is about the former one: neither its
// load nor its numbers say anything of the new stream, until the roster has caught up.
func TestRowsAboutAFormerProcess(t *testing.T) {
	cfg := testConfig()
	cfg.SelfCorrection = true
	nodes := paperNodes(1)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	r.Attached(0, 0, "w0", attachReply("w0", 2, 0))
	submit(t, r, 0, request("a", 1, 1, 1))
	tasks := func(version int64, load, own int64) int64 {
		t.Helper()
		s := snapshotOf(version, nodes, []cluster.Load{{Tasks: load}})
		s.OwnNumber[0] = own
		if _, err := r.Push(0, s); err != nil {
			t.Fatal(err)
		}
		return r.View().Node(0).Load.Tasks
	}
	if got := tasks(2, 5, 7); got != 1 {
		t.Errorf("the view has %d tasks after a row about the former process, want the own placement alone", got)
	}
	nodes[0].Incarnation = 2
	if got := tasks(3, 5, 0); got != 6 {
		t.Errorf("the view has %d tasks after a row about this process, want its five and the own placement", got)
	}
}
