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
	nodes := paperNodes(1)
	r := replicaWith(t, cfg, freshest{paperPolicy(t)}, nodes)
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
		if actions, _ := r.Submit(0, "c", request(fmt.Sprint(i), 1, 10, 100)); len(actions.Flush) != 0 {
			t.Fatal("flushed")
		}
	}
	if len(r.Settle(0).Flush) != 0 || r.Statistics().Decisions != 50 {
		t.Errorf("statistics %+v: want 50 decisions and no flush", r.Statistics())
	}
}

// freshest is a policy that wants riders.
type freshest struct{ Policy }

func (freshest) Wants() Wants { return Wants{Loads: Fresh} }

type uncached struct{ Policy }

func (uncached) Wants() Wants { return Wants{} }

// polling is a policy that acts on time.
type polling struct{ Policy }

func (polling) Tick(_ time.Duration, v *View) Decision {
	return Decision{Probe: []ProbeCall{{Node: int(v.Candidates()[0])}}}
}

func TestTickerIsAskedEveryTick(t *testing.T) {
	r := replicaWith(t, testConfig(), polling{paperPolicy(t)}, paperNodes(2))
	if actions := r.Tick(time.Second); len(actions.Probe) != 1 || actions.Probe[0].Task != nil {
		t.Errorf("actions %+v: want the policy's probe", actions)
	}
}

// asking is a policy that wants parts of the view.
type asking struct {
	Policy
	wants Wants
}

func (a asking) Wants() Wants { return a.wants }

// Homes and tables for draws by capacity are kept for policies that want them, and for nobody else.
func TestTheViewHoldsWhatThePolicyWants(t *testing.T) {
	for _, wants := range []Wants{{}, {Homes: true}, {Weights: true}, {Homes: true, Weights: true}} {
		r := replicaWith(t, testConfig(), asking{paperPolicy(t), wants}, paperNodes(10))
		v := r.View()
		for i := range 4 {
			v.nodes[i].Home = true
		}
		everybody := func(int) bool { return true }
		v.refresh(everybody, everybody)
		homes, drawn := 0, 0
		if wants.Homes {
			homes = 4
		}
		if wants.Weights {
			drawn = 10 - homes
		}
		if len(v.Homes()) != homes || len(v.sampler.members) != drawn || (v.sampler.tables[0].stay != nil) != wants.Weights {
			t.Errorf("%+v: %d homes and %d nodes to draw, want %d and %d", wants, len(v.Homes()), len(v.sampler.members), homes, drawn)
		}
	}
}
