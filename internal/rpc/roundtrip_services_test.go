package rpc

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

func TestWorkerRoundTrips(t *testing.T) {
	h := &fakeWorker{}
	_, _, cfg := inMemory(t, WorkerService(h, dims), quiet())
	c := workerClient(t, "memory:1", cfg)
	check := func(name string, property func(*rapid.T)) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, property) })
	}

	check("attach", func(t *rapid.T) {
		sent := schedulerRefs.Draw(t, "ref")
		answer := cluster.AttachReply{Incarnation: positive.Draw(t, "incarnation"), Number: counts.Draw(t, "number"),
			Report: reports.Draw(t, "report")}
		h.attach = func(_ context.Context, got cluster.SchedulerRef) (cluster.AttachReply, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Attach(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("enqueue", func(t *rapid.T) {
		sent := enqueues.Draw(t, "enqueue")
		answer := cluster.EnqueueReply{Refused: refusals(positive).Draw(t, "refused"), Report: riders.Draw(t, "report")}
		h.enqueue = func(_ context.Context, got cluster.Enqueue) (cluster.EnqueueReply, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Enqueue(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("claim", func(t *rapid.T) {
		sent := claimRequests.Draw(t, "claims")
		answer := listOf(rapid.SampledFrom([]cluster.Holding{cluster.Held, cluster.Never, cluster.Gone})).Draw(t, "holdings")
		h.claim = func(_ context.Context, got cluster.ClaimRequest) ([]cluster.Holding, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Claim(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("probe", func(t *rapid.T) {
		id, demand := names.Draw(t, "id"), resources(amounts).Draw(t, "demand")
		answer := cluster.ProbeReply{Tasks: counts.Draw(t, "tasks"), Pending: counts.Draw(t, "pending"),
			Latency: rapid.OneOf(rapid.Just(time.Duration(-1)), spans).Draw(t, "latency"), Report: riders.Draw(t, "report")}
		h.probe = func(_ context.Context, gotID string, gotDemand cluster.Resources) (cluster.ProbeReply, error) {
			same(t, "id", gotID, id)
			same(t, "demand", gotDemand, demand)
			return answer, nil
		}
		got, err := c.Probe(background, id, demand)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("cancel and drain", func(t *rapid.T) {
		id, scheduler, yes := names.Draw(t, "id"), maybe.Draw(t, "scheduler"), rapid.Bool().Draw(t, "yes")
		h.cancel = func(_ context.Context, gotID, gotScheduler string) (bool, error) {
			same(t, "id and scheduler", [2]string{gotID, gotScheduler}, [2]string{id, scheduler})
			return yes, nil
		}
		h.drain = func(_ context.Context, got bool) error { same(t, "draining", got, yes); return nil }
		found, err := c.Cancel(background, id, scheduler)
		same(t, "error", err, nil)
		same(t, "reply", found, yes)
		same(t, "error", c.Drain(background, yes), nil)
	})
	check("tasks", func(t *rapid.T) {
		sent, answer := queries.Draw(t, "query"), listOf(taskStatuses).Draw(t, "tasks")
		h.tasks = func(_ context.Context, got cluster.TaskQuery) ([]cluster.TaskStatus, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Tasks(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("state, counters and setup", func(t *rapid.T) {
		report, counters, setup := reports.Draw(t, "report"), counterMaps.Draw(t, "counters"), setups.Draw(t, "setup")
		h.setup = func(context.Context) (cluster.Setup, error) { return setup, nil }
		h.state = func(context.Context) (cluster.Report, error) { return report, nil }
		h.counters = func(context.Context) (map[string]int64, error) { return counters, nil }
		got, err := c.State(background)
		same(t, "error", err, nil)
		same(t, "reply", got, report)
		gotCounters, err := c.Counters(background)
		same(t, "error", err, nil)
		same(t, "reply", gotCounters, counters)
		gotSetup, err := c.Setup(background)
		same(t, "error", err, nil)
		same(t, "reply", gotSetup, setup)
	})
}

func TestDataServiceRoundTrips(t *testing.T) {
	h := &fakeData{}
	_, _, cfg := inMemory(t, DataServiceService(h, dims), quiet())
	c := NewDataClient("memory:1", dims, cfg)
	defer c.Close()
	check := func(name string, property func(*rapid.T)) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, property) })
	}

	check("nodes", func(t *rapid.T) {
		node, answer := nodes.Draw(t, "node"), positive.Draw(t, "incarnation")
		h.registerNode = func(_ context.Context, got cluster.Node) (int64, error) {
			same(t, "node", got, node)
			return answer, nil
		}
		h.unregisterNode = func(_ context.Context, name string, incarnation int64) error {
			same(t, "name", name, node.Name)
			same(t, "incarnation", incarnation, node.Incarnation)
			return nil
		}
		got, err := c.RegisterNode(background, node)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
		same(t, "error", c.UnregisterNode(background, node.Name, node.Incarnation), nil)
	})
	check("schedulers", func(t *rapid.T) {
		ref, answer := schedulerRefs.Draw(t, "ref"), snapshots.Draw(t, "snapshot")
		h.registerScheduler = func(_ context.Context, got cluster.SchedulerRef) (cluster.Snapshot, error) {
			same(t, "ref", got, ref)
			return answer, nil
		}
		h.unregisterScheduler = func(_ context.Context, name string, incarnation int64) error {
			same(t, "name", name, ref.Name)
			same(t, "incarnation", incarnation, ref.Incarnation)
			return nil
		}
		h.checkScheduler = h.unregisterScheduler
		got, err := c.RegisterScheduler(background, ref)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
		same(t, "error", c.CheckScheduler(background, ref.Name, ref.Incarnation), nil)
		same(t, "error", c.UnregisterScheduler(background, ref.Name, ref.Incarnation), nil)
	})
	check("delta and report", func(t *rapid.T) {
		delta, report, answer := deltas.Draw(t, "delta"), reports.Draw(t, "report"), positive.Draw(t, "incarnation")
		h.flush = func(_ context.Context, got cluster.Delta) (int64, error) {
			same(t, "delta", got, delta)
			return answer, nil
		}
		h.report = func(_ context.Context, got cluster.Report) error { same(t, "report", got, report); return nil }
		got, err := c.Flush(background, delta)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
		same(t, "error", c.Report(background, report), nil)
	})
	check("status, counters and setup", func(t *rapid.T) {
		status, counters, setup := statuses.Draw(t, "status"), counterMaps.Draw(t, "counters"), setups.Draw(t, "setup")
		h.setup = func(context.Context) (cluster.Setup, error) { return setup, nil }
		h.status = func(context.Context) (cluster.ClusterStatus, error) { return status, nil }
		h.counters = func(context.Context) (map[string]int64, error) { return counters, nil }
		h.settle = func(context.Context) error { return nil }
		got, err := c.Status(background)
		same(t, "error", err, nil)
		same(t, "reply", got, status)
		gotCounters, err := c.Counters(background)
		same(t, "error", err, nil)
		same(t, "reply", gotCounters, counters)
		gotSetup, err := c.Setup(background)
		same(t, "error", err, nil)
		same(t, "reply", gotSetup, setup)
		same(t, "error", c.Settle(background), nil)
	})
}
