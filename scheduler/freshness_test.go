package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// With riders the view of a node is its newest report, whichever way it came, plus the own placements
// that the report does not contain; older news change nothing.
func TestRidersRefreshTheView(t *testing.T) {
	cfg := testConfig()
	cfg.Riders = true
	nodes := paperNodes(1)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	tasks := func() int64 { return r.view.nodes[0].Load.Tasks }
	rider := func(sequence, load, number int64) *cluster.Report {
		return &cluster.Report{Node: "w0", Incarnation: 1, Sequence: sequence, Load: cluster.Load{Tasks: load},
			Received: []cluster.Received{{Scheduler: "s1", Incarnation: testIncarnation, Number: number}}}
	}
	var ds []Dispatch
	for i := range 3 {
		ds = append(ds, submit(t, r, 0, request(fmt.Sprint(i), 1, 10, 100)))
	}
	for _, c := range []struct {
		what string
		do   func()
		want int64
	}{
		{"three own placements", func() {}, 3},
		{"a rider that includes two of them, and four of others", func() {
			r.Acknowledged(0, ds[:2], &cluster.EnqueueReply{Report: rider(5, 6, 2)})
		}, 7},
		{"an older rider", func() { r.Acknowledged(0, ds[:1], &cluster.EnqueueReply{Report: rider(4, 1, 1)}) }, 7},
		{"a snapshot based on an older report", func() {
			s := snapshotOf(2, nodes, []cluster.Load{{Tasks: 50}})
			s.ReportSequence[0] = 4
			if _, err := r.Push(0, s); err != nil {
				t.Fatal(err)
			}
		}, 7},
		{"a snapshot based on a newer report, which knows of a placement on its way", func() {
			s := snapshotOf(3, nodes, []cluster.Load{{Tasks: 9}})
			s.ReportSequence[0], s.OwnNumber[0] = 6, 3
			if _, err := r.Push(0, s); err != nil {
				t.Fatal(err)
			}
		}, 9},
		{"a newer rider from before that placement arrived", func() {
			r.Acknowledged(0, ds[:2], &cluster.EnqueueReply{Report: rider(7, 5, 2)})
		}, 6},
		{"another process's rider", func() {
			other := rider(99, 50, 3)
			other.Incarnation = 2
			r.Acknowledged(0, ds[2:], &cluster.EnqueueReply{Report: other})
		}, 6},
	} {
		c.do()
		if tasks() != c.want {
			t.Errorf("%s: the view has %d tasks, want %d", c.what, tasks(), c.want)
		}
	}
}

// A policy that asks the workers needs no cache: its replica flushes nothing.
func TestUncachedPolicyFlushesNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), uncached{paperPolicy(t)}, paperNodes(10))
	for i := range 50 {
		if ready, _ := r.Submit(0, "c", request(fmt.Sprint(i), 1, 10, 100)); len(ready.Flush) != 0 {
			t.Fatal("flushed")
		}
	}
	if len(r.Settle(0).Flush) != 0 || r.Statistics().Decisions != 50 {
		t.Errorf("statistics %+v: want 50 decisions and no flush", r.Statistics())
	}
}

type uncached struct{ Policy }

func (uncached) Cached() bool { return false }

// polling is a policy that acts on time.
type polling struct{ Policy }

func (polling) Tick(_ time.Duration, v *View) Step {
	return Step{Probe: []ProbeCall{{Node: int(v.Candidates()[0])}}}
}

func TestTickerIsAskedEveryTick(t *testing.T) {
	r := replicaWith(t, testConfig(), polling{paperPolicy(t)}, paperNodes(2))
	if ready := r.Tick(time.Second); len(ready.Probe) != 1 || ready.Probe[0].Task != nil {
		t.Errorf("ready %+v: want the policy's probe", ready)
	}
}
