package rpc

import (
	"context"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

var background = context.Background()

// same fails when what arrived is not what was sent.
func same[T any](t *rapid.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s arrived as\n%+v\nwas sent as\n%+v", what, got, want)
	}
}

// Each round trip draws a request and a reply, sends the one through a client, a connection and a
// server to a handler, and the other back.

func TestSchedulerRoundTrips(t *testing.T) {
	h := &fakeScheduler{}
	_, _, cfg := inMemory(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, "memory:1", cfg)
	check := func(name string, property func(*rapid.T)) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, property) })
	}

	check("submit", func(t *rapid.T) {
		sent := cluster.SubmitRequest{Client: names.Draw(t, "client"), Incarnation: counts.Draw(t, "incarnation"),
			Tasks: rapid.SliceOfN(taskSpecs, 0, 4).Draw(t, "tasks")}
		if sent.Job = rapid.Ptr(jobs, true).Draw(t, "job"); sent.Job != nil {
			sent.Client = maybe.Draw(t, "collector")
		}
		answer := refusals(rapid.Just[int64](0)).Draw(t, "refused")
		h.submit = func(_ context.Context, got cluster.SubmitRequest) ([]cluster.Refusal, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Submit(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("collect", func(t *rapid.T) {
		sent := cluster.CollectRequest{Client: names.Draw(t, "client"), After: counts.Draw(t, "after"),
			Incarnation: counts.Draw(t, "incarnation"), Max: rapid.IntRange(0, maxItems).Draw(t, "max"),
			Wait: time.Duration(rapid.Int64Range(0, maxPollMs).Draw(t, "wait")) * time.Millisecond}
		answer := cluster.CollectReply{Cursor: counts.Draw(t, "cursor"), Records: listOf(records).Draw(t, "records"),
			Incarnation: positive.Draw(t, "incarnation"), Keeps: rapid.Bool().Draw(t, "keeps")}
		h.collect = func(_ context.Context, got cluster.CollectRequest) (cluster.CollectReply, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Collect(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
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
	check("cancel", func(t *rapid.T) {
		sent, answer := names.Draw(t, "id"), rapid.Bool().Draw(t, "found")
		h.cancel = func(_ context.Context, got string) (bool, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Cancel(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("complete", func(t *rapid.T) {
		sent := notices.Draw(t, "notice")
		h.complete = func(_ context.Context, got cluster.CompletionNotice) error {
			same(t, "request", got, sent)
			return nil
		}
		same(t, "error", c.Complete(background, sent), nil)
	})
	check("push", func(t *rapid.T) {
		sent := snapshots.Draw(t, "snapshot")
		h.push = func(_ context.Context, got cluster.Snapshot) error {
			same(t, "request", got, sent)
			return nil
		}
		same(t, "error", c.Push(background, sent), nil)
	})
	check("view", func(t *rapid.T) {
		answer := statuses.Draw(t, "view")
		h.view = func(context.Context) (cluster.ClusterStatus, error) { return answer, nil }
		got, err := c.View(background)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("setup", func(t *rapid.T) {
		answer := setups.Draw(t, "setup")
		h.setup = func(context.Context) (cluster.Setup, error) { return answer, nil }
		got, err := c.Setup(background)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("switch policy", func(t *rapid.T) {
		policy, seed := names.Draw(t, "policy"), rapid.Uint64().Draw(t, "seed")
		h.become = func(_ context.Context, got string, gotSeed uint64) error {
			same(t, "policy", got, policy)
			same(t, "seed", gotSeed, seed)
			return nil
		}
		same(t, "error", c.SwitchPolicy(background, policy, seed), nil)
	})
	check("counters", func(t *rapid.T) {
		answer := counterMaps.Draw(t, "counters")
		h.counters = func(context.Context) (map[string]int64, error) { return answer, nil }
		got, err := c.Counters(background)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("declared errors", func(t *rapid.T) {
		declared := &cluster.Error{Code: cluster.ErrorCode(rapid.IntRange(1, int(cluster.Denied)).Draw(t, "code")),
			Message: texts.Draw(t, "message"), After: millisec.Draw(t, "after")}
		h.settle = func(context.Context) error { return declared }
		same[error](t, "error", c.Settle(background), declared)
	})
}
