package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// ended is a replica that keeps so many results, for an hour, and has ended tasks with these ids at that time.
func endedTasks(t *testing.T, at time.Duration, retain int, ids ...string) *Replica {
	t.Helper()
	cfg := testConfig()
	cfg.RetainResults = retain
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(1))
	endAll(t, r, at, ids...)
	return r
}

func endAll(t *testing.T, r *Replica, at time.Duration, ids ...string) {
	t.Helper()
	for _, id := range ids {
		finish(t, r, at, submit(t, r, at, request(id, 1, 1, 1)), cluster.Finished)
	}
}

func ids(list []cluster.TaskStatus) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// Collected results stay for queries until newer ones need the room: exactly as many as there is room for.
func TestCollectedResultsStayWhileThereIsRoom(t *testing.T) {
	var all []string
	for i := range 13 {
		all = append(all, fmt.Sprint(i))
	}
	for n, want := range map[int]int{9: 9, 10: 10, 13: 10} {
		r := endedTasks(t, time.Hour, 10, all[:n]...)
		_, cursor := collectAll(t, r, 0)
		collectAll(t, r, cursor)
		r.Tick(time.Hour)
		if got := r.Statistics().Retained; got != want {
			t.Errorf("%d of %d results stay, want %d", got, n, want)
		}
	}
}

// A result lives for RetainFor; one that nobody collected by then has expired, and waits for nobody.
func TestResultsExpire(t *testing.T) {
	r := endedTasks(t, 10*time.Hour, 10, "a", "b")
	if r.Uncollected() != 2 {
		t.Fatalf("%d results wait, want 2", r.Uncollected())
	}
	collectAll(t, r, 0)
	for after, want := range map[time.Duration]Statistics{time.Hour - 1: {Retained: 2}, time.Hour: {Expired: 2}} {
		r := endedTasks(t, 10*time.Hour, 10, "a", "b")
		r.Tick(10*time.Hour + after)
		if s := r.Statistics(); s.Retained != want.Retained || s.Expired != want.Expired || r.Uncollected() != want.Retained {
			t.Errorf("%v later: %d stay, %d expired, %d wait", after, s.Retained, s.Expired, r.Uncollected())
		}
	}
}

// A client whose older results were dropped, after it had collected them, can collect the newer ones.
func TestDroppedResultsTakeNoOthersAlong(t *testing.T) {
	r := endedTasks(t, 0, 1, "a", "b")
	_, cursor := collectAll(t, r, 0)
	for _, id := range []string{"c", "d", "e"} {
		collectAll(t, r, cursor) // acknowledges
		r.Tick(0)
		endAll(t, r, 0, id)
		r.Tick(0)
		var records []cluster.TaskRecord
		if records, cursor = collectAll(t, r, cursor); len(records) != 1 || records[0].ID != id {
			t.Fatalf("%s has ended, and the client gets %+v", id, records)
		}
	}
}

// A client of whom nothing is left is forgotten.
func TestClientsAreForgotten(t *testing.T) {
	r := endedTasks(t, 0, 10, "a", "b")
	_, cursor := collectAll(t, r, 0)
	collectAll(t, r, cursor)
	if r.Tick(testConfig().RetainFor); len(r.results.clients) != 0 {
		t.Errorf("%d clients are known, of whom no result is", len(r.results.clients))
	}
	r = endedTasks(t, 0, 10, "a")
	if r.Tick(testConfig().RetainFor); len(r.results.clients) != 0 {
		t.Errorf("%d clients are known that never came", len(r.results.clients))
	}
}

// Old results are packed when there are many; their memory serves others, and those that are forgotten leave nothing.
func TestPackedResultsAreForgotten(t *testing.T) {
	r := endedTasks(t, 0, 1<<20)
	for i := range unpacked + 100 {
		endAll(t, r, 0, fmt.Sprint(i))
	}
	_, cursor := collectAll(t, r, 0)
	collectAll(t, r, cursor)
	r.Tick(0)
	if r.results.claimed.packed != 100 {
		t.Errorf("%d results are packed, want 100", r.results.claimed.packed)
	}
	r.Tick(testConfig().RetainFor)
	endAll(t, r, testConfig().RetainFor, "a", "b")
	if records, _ := collectAll(t, r, cursor); len(records) != 2 || records[0].ID != "a" || records[1].ID != "b" {
		t.Errorf("%d records, want the two new ones", len(records))
	}
}

// A query finds a task by its id, live or ended. Without an id it lists live tasks, then ended ones, the newest first, and
// no more than asked for.
func TestQueries(t *testing.T) {
	r := endedTasks(t, 0, 10, "z", "y", "x")
	for _, id := range []string{"c", "b", "a"} {
		submit(t, r, 0, request(id, 1, 1, 1))
	}
	for id, phase := range map[string]cluster.Phase{"a": cluster.Sent, "z": cluster.Ended} {
		got := r.Query(cluster.TaskQuery{ID: id, Max: 10})
		if len(got) != 1 || got[0].ID != id || got[0].Phase != phase || (got[0].Record != nil) != (phase == cluster.Ended) {
			t.Errorf("%s: %+v, want it %v", id, got, phase)
		}
	}
	if got := r.Query(cluster.TaskQuery{ID: "nobody", Max: 10}); got != nil {
		t.Errorf("a task that nobody submitted: %+v", got)
	}
	all := ids(r.Query(cluster.TaskQuery{Max: 10}))
	if sorted := slices.Sorted(slices.Values(all[:3])); !slices.Equal(sorted, []string{"a", "b", "c"}) ||
		!slices.Equal(all[3:], []string{"x", "y", "z"}) {
		t.Errorf("all: %v", all)
	}
	for limit := range 8 {
		if got, want := ids(r.Query(cluster.TaskQuery{Max: limit})), all[:min(limit, 6)]; !slices.Equal(got, want) {
			t.Errorf("at most %d: %v, want %v", limit, got, want)
		}
	}
}
