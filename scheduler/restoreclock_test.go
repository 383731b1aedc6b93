package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A clock that was set back while a replica was away makes no task one that has not come yet: it would take less than no time, and
// nobody would take its record.
func TestAClockThatWasSetBack(t *testing.T) {
	const before, after = 1_000_000 * time.Hour, 999_999 * time.Hour
	d, policy := disk{}, paperPolicy(t)
	cfg := keeping(testConfig(), testIncarnation, before)
	r := restored(t, cfg, policy, d)
	nodes := paperNodes(1)
	if _, err := r.Push(0, snapshotOf(1, nodes, make([]cluster.Load, len(nodes)))); err != nil {
		t.Fatal(err)
	}
	submit(t, r, time.Minute, request("open", 1, 1, 1000))
	d.sync(r)
	r = restored(t, keeping(cfg, testIncarnation+1, after), policy, d)
	if at := r.tasks["open"].received; at > 0 {
		t.Errorf("it was received %v after its scheduler began", at)
	}
}

// A clock that was never set before a start, and is right after it, makes nothing old. Results are as old as the time in which somebody
// could collect them.
func TestAClockThatWasSet(t *testing.T) {
	const right = 56 * 365 * 24 * time.Hour
	d, policy := disk{}, paperPolicy(t)
	cfg := keeping(testConfig(), testIncarnation, time.Hour)
	r := restored(t, cfg, policy, d)
	nodes := paperNodes(1)
	if _, err := r.Push(0, snapshotOf(1, nodes, make([]cluster.Load, len(nodes)))); err != nil {
		t.Fatal(err)
	}
	for at, id := range []string{"first", "second"} {
		now := time.Duration(at+1) * time.Minute
		finish(t, r, now, submit(t, r, now, request(id, 1, 1, 1000)), cluster.Finished)
	}
	submit(t, r, 3*time.Minute, request("open", 1, 1, 1000))
	d.sync(r)
	r = restored(t, keeping(cfg, testIncarnation+1, right), policy, d)
	if at := r.tasks["open"].received; at < -time.Hour {
		t.Errorf("it was received %v before its scheduler began", -at)
	}
	if first, second := r.results.byID["first"].at, r.results.byID["second"].at; first != -time.Minute || second != 0 {
		t.Errorf("they ended %v and %v before", -first, -second)
	}
}
