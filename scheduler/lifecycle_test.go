package scheduler

import (
	"fmt"
	"slices"
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
	if actions := finish(t, r, 1600*ms, d, cluster.Finished); !actions.Wake || !slices.Equal(actions.Finished, []time.Duration{1590 * ms}) {
		t.Errorf("%+v: the end of a task must wake collectors, and its makespan is 1.59 s", actions)
	}
	records, cursor := collectAll(t, r, 0)
	if len(records) != 1 {
		t.Fatalf("%d records, want 1", len(records))
	}
	got := records[0]
	if got.Outcome != cluster.Finished || got.Scheduling != 2*ms || got.Makespan != 1590*ms || got.Attempts != 1 ||
		got.Worker != d.nodeName(r) {
		t.Errorf("record %+v", got)
	}
	if again, _ := collectAll(t, r, cursor); len(again) != 0 {
		t.Errorf("%d records after the cursor, want none", len(again))
	}
	if actions := finish(t, r, 2000*ms, d, cluster.Finished); len(actions.Finished) != 0 {
		t.Errorf("a repeated notice finishes the task again: %v", actions.Finished)
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
		actions, _ := r.Submit(0, "client", request(fmt.Sprint(i), 1, 10, 100))
		if flushed := len(actions.Flush) == 1; flushed != (i%8 == 0) {
			t.Fatalf("placement %d: flushed = %v", i, flushed)
		}
		if i%8 != 0 {
			continue
		}
		delta := actions.Flush[0]
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
	actions, _ := r.Submit(0, "c", request("a", 1, 10, 100))
	r.FlushFailed(actions.Flush[0])
	actions, _ = r.Submit(0, "c", request("b", 1, 10, 100))
	p := actions.Flush[0].Placed
	if len(p) != 1 || p[0].Number != 2 || p[0].Placed.Tasks != 2 || actions.Flush[0].Decisions != 2 {
		t.Errorf("delta %+v: want both placements", actions.Flush[0])
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
		actions, _ := r.Submit(0, "c", request(fmt.Sprint(i), 1, 10, 100))
		waiting = append(waiting, actions.Flush[0])
		for _, p := range actions.Flush[0].Placed {
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
		if actions := r.Tick(500 * ms); len(actions.Flush) != 0 {
			t.Errorf("bound %v: flushed after half a second", bound)
		}
		if actions := r.Tick(2 * time.Second); len(actions.Flush) == 1 != (bound > 0) {
			t.Errorf("bound %v: %d flushes after two seconds", bound, len(actions.Flush))
		}
		if actions := r.Tick(4 * time.Second); len(actions.Flush) != 0 {
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
