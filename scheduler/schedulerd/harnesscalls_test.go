package schedulerd

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

func spec(id string) cluster.TaskSpec {
	demand, duration := cluster.Resources{500, 128}, int64(1000)
	return cluster.TaskSpec{ID: id, Type: "simulated", Demand: &demand, Duration: &duration, TimeScale: 1}
}

// submitAll submits tasks and fails the test on a refusal.
func submitAll(t testing.TB, s rpc.Scheduler, ids ...string) {
	t.Helper()
	var specs []cluster.TaskSpec
	for _, id := range ids {
		specs = append(specs, spec(id))
	}
	refused, err := s.Submit(t.Context(), cluster.SubmitRequest{Client: "c", Tasks: specs})
	if err != nil || len(refused) > 0 {
		t.Fatalf("submit: %v, %v", refused, err)
	}
}

// collect waits until n records have come.
func collect(t testing.TB, s rpc.Scheduler, n int) []cluster.TaskRecord {
	t.Helper()
	var all []cluster.TaskRecord
	cursor := int64(0)
	for len(all) < n {
		reply, err := s.Collect(t.Context(), cluster.CollectRequest{Client: "c", After: cursor, Max: 1000, Wait: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Records) == 0 {
			t.Fatalf("%d records after 20 seconds, want %d", len(all), n)
		}
		all, cursor = append(all, reply.Records...), reply.Cursor
	}
	return all
}

// candidates is how many nodes the scheduler places on.
func candidates(t testing.TB, d *Daemon) int {
	t.Helper()
	counts, err := d.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(counts["candidates"])
}

// untilReady waits until the scheduler knows n candidates.
func untilReady(t testing.TB, d *Daemon, n int) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		have := candidates(t, d)
		if have == n {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("scheduler has %d candidates, want %d", have, n)
		}
	}
}
