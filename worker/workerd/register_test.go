package workerd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// The order of starting does not matter: the worker tries again until the data service answers.
func TestRegistersWhenTheDataServiceComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		b.run(t)
		pass(5 * time.Second)
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "not registered with the data service at data:1") {
			t.Errorf("ready without a data service: %v", err)
		}
		serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		pass(cluster.RegisterEvery)
		if err := b.Ready(); err != nil {
			t.Errorf("not ready: %v", err)
		}
		node, times := b.data.registered()
		want := cluster.Node{Name: "w1", Address: "w1:1", Class: "any", Slots: 2, Capacity: cluster.Resources{4000, 4096},
			Incarnation: b.start.UnixNano()}
		if times != 1 || *node != want {
			t.Errorf("registered %d times, as %+v; want once, as %+v", times, node, want)
		}
	})
}

// A data service that restarted knows nobody: its answer to a report is UNKNOWN_NODE, and the worker
// registers again and reports at once, so that the aggregate is whole.
func TestRegistersAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		stop := serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		b.run(t)
		b.sched.accept(t, task{id: "a", takes: time.Hour})
		pass(time.Second)
		stop()
		pass(30 * time.Second)
		if err := b.Ready(); err != nil {
			t.Errorf("a data service that is away is no reason to refuse tasks: %v", err)
		}
		restarted := &fakeData{}
		serve(t, b.net.listen("data:1"), rpc.DataServiceService(restarted, dims))
		pass(10 * time.Second)
		if _, times := restarted.registered(); times != 1 {
			t.Errorf("registered %d times, want once", times)
		}
		reports := restarted.reported()
		if len(reports) != 2 {
			t.Fatalf("%d reports, want the one that was refused and the one after registering", len(reports))
		}
		if load := reports[1].Load; load.Tasks != 1 || load.Demand != (cluster.Resources{1000, 100}) {
			t.Errorf("load %+v, want the one task", load)
		}
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		pass(35 * time.Second)
		reports := b.data.reported()
		if len(reports) != 4 {
			t.Fatalf("%d reports in 35 seconds, want one at once and one every ten seconds", len(reports))
		}
		for i, r := range reports {
			if after := b.data.at[i].Sub(b.start); after != time.Duration(i)*10*time.Second {
				t.Errorf("report %d after %v", i, after)
			}
			if r.Node != "w1" || r.Incarnation != b.self.Incarnation || i > 0 && r.Sequence <= reports[i-1].Sequence {
				t.Errorf("report %d: %+v", i, r)
			}
		}
	})
}

// While a report is under way completions gather: one more report says it all, exactly.
func TestOneReportAfterManyCompletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := start(t)
		b.data.change(func() { b.data.gate = gate })
		b.sched.accept(t, task{id: "a", takes: time.Second}, task{id: "b", takes: 2 * time.Second}, task{id: "c", takes: 2 * time.Second},
			task{id: "d", takes: time.Hour})
		pass(5 * time.Second)
		if reports := b.data.reported(); len(reports) != 2 || reports[1].Load.Tasks != 3 {
			t.Fatalf("after the first completion: %+v, want one report with three tasks", reports[1:])
		}
		b.data.change(func() { b.data.gate = nil })
		close(gate)
		reports := b.data.reported()
		if len(reports) != 3 {
			t.Fatalf("%d reports for the two completions that came meanwhile, want 1", len(reports)-2)
		}
		last := reports[2]
		want := cluster.Load{Demand: cluster.Resources{1000, 100}, Tasks: 1, Duration: 3_600_000, Work: 3_600_000_000}
		if last.Load != want || last.Running != 1 || last.Queued != 0 {
			t.Errorf("report %+v, want the load %+v", last, want)
		}
		if len(last.Received) != 1 || last.Received[0].Number != 4 || last.Received[0].Received != b.sched.placed {
			t.Errorf("received %+v, want the scheduler's own sum %+v at 4", last.Received, b.sched.placed)
		}
	})
}

// Reports are not queued for a data service that is away: the next heartbeat says everything.
func TestAReportThatFailedIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		stop := serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		b.run(t)
		b.sched.accept(t, task{id: "a", takes: 2 * time.Second}, task{id: "b", takes: 3 * time.Second})
		pass(time.Second)
		stop()
		pass(3 * time.Second)
		serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		before := len(b.data.reported())
		pass(10 * time.Second)
		reports := b.data.reported()[before:]
		if len(reports) != 1 || !reports[0].Load.IsZero() {
			t.Errorf("reports %+v, want one, of an idle worker", reports)
		}
	})
}
