package datastored

import (
	"testing"
	"testing/synctest"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// A node can be asked about as soon as it is registered, before it has reported.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		pass(time.Second)
		b.nodes(t, "w1")
		s := b.scheduler(t, "s1")
		s.flush(t, 2, "w1")
		status, err := b.client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(status.Nodes) != 1 || status.Nodes[0].Report != nil || status.Nodes[0].Load.Tasks != 2 ||
			status.Nodes[0].Heard != 2*datastore.TickEvery {
			t.Errorf("nodes %+v, want w1 with two tasks on their way", status.Nodes)
		}
		if len(status.Schedulers) != 1 || status.Schedulers[0] != s.ref || status.Decisions != 2 {
			t.Errorf("status %+v", status)
		}
		report := cluster.Report{Node: "w1", Incarnation: 1, Sequence: 1, Queued: 3}
		if err := b.client.Report(t.Context(), report); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if status, err = b.client.Status(t.Context()); err != nil || status.Nodes[0].Report == nil || status.Nodes[0].Report.Queued != 3 {
			t.Errorf("status %+v, %v; want the report", status.Nodes, err)
		}
	})
}

// Whoever is not known is told so with a declared code, and the connection stays.
func TestUnknownCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		b.scheduler(t, "s1")
		_, unknownFlush := b.client.Flush(t.Context(), cluster.Delta{Scheduler: "s2", Incarnation: 1})
		_, staleScheduler := b.client.RegisterScheduler(t.Context(), cluster.SchedulerRef{Name: "s1", Address: "s1:1", Incarnation: 1})
		elsewhere := cluster.Node{Name: "w1", Address: "w1:2", Class: "any", Slots: 1, Incarnation: 2, Capacity: cluster.Resources{1000}}
		_, duplicate := b.client.RegisterNode(t.Context(), elsewhere)
		for what, test := range map[string]struct {
			err  error
			want cluster.ErrorCode
		}{
			"flush of an unknown scheduler": {unknownFlush, cluster.UnknownScheduler},
			"same scheduler again":          {staleScheduler, 0},
			"another worker's name":         {duplicate, cluster.DuplicateNode},
			"report of an unknown worker": {b.client.Report(t.Context(), cluster.Report{Node: "w9", Incarnation: 1, Sequence: 1}),
				cluster.UnknownNode},
			"check of an unknown scheduler": {b.client.CheckScheduler(t.Context(), "s9", 1), cluster.UnknownScheduler},
			"check of a younger scheduler":  {b.client.CheckScheduler(t.Context(), "s1", 2), cluster.UnknownScheduler},
			"good-bye of an unknown worker": {b.client.UnregisterNode(t.Context(), "w9", 1), 0},
			"good-bye of a scheduler twice": {b.client.UnregisterScheduler(t.Context(), "s9", 1), 0},
		} {
			if got := cluster.CodeOf(test.err); got != test.want || test.want == 0 && test.err != nil {
				t.Errorf("%s: %v, want code %v", what, test.err, test.want)
			}
		}
		if n := b.net.connections("data:1"); n != 1 {
			t.Errorf("%d connections, want the one that all used", n)
		}
	})
}

func TestCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1", "w2")
		b.scheduler(t, "s1").flush(t, 10, "w1")
		b.scheduler(t, "s2")
		counts, err := b.client.Counters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int64{"incarnation": b.store.Incarnation(), "decisions": 10, "nodes": 2, "schedulers": 2,
			"skipped_pushes": 0, "in.delta": 1, "in.register_node": 2, "in.register_scheduler": 2, "out.push": 1} {
			if counts[name] != want {
				t.Errorf("%s: %d, want %d", name, counts[name], want)
			}
		}
	})
}
