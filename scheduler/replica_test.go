package scheduler

import (
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// One is the least of each bound; nothing is refused.
func TestSettingsOfAReplica(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(c *Config)
		ok     bool
	}{
		{"the least of everything", func(c *Config) { c.DeltaBatch, c.MaxAttempts, c.MaxPending, c.RetainResults = 1, 1, 1, 1 }, true},
		{"no name", func(c *Config) { c.Name = "" }, false},
		{"no batch", func(c *Config) { c.DeltaBatch = 0 }, false},
		{"no attempt", func(c *Config) { c.MaxAttempts = 0 }, false},
		{"no task", func(c *Config) { c.MaxPending = 0 }, false},
		{"no result", func(c *Config) { c.RetainResults = 0 }, false},
	} {
		cfg := testConfig()
		c.change(&cfg)
		if _, err := New(cfg, paperPolicy(t)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// A policy that wants corrected loads finds its own placements in the view; one that wants snapshots does not.
func TestCorrectedViews(t *testing.T) {
	for loads, want := range map[Loads]int64{Snapshots: 0, Corrected: 1, Fresh: 1} {
		r := replicaWith(t, testConfig(), asking{paperPolicy(t), Wants{Loads: loads}}, paperNodes(1))
		submit(t, r, 0, request("a", 1, 1, 1))
		if got := r.View().Node(0).Load.Tasks; got != want {
			t.Errorf("wants %d: %d tasks in the view, want %d", loads, got, want)
		}
	}
}

// The statistics count what was placed since the newest snapshot, the status says how old that is.
func TestAgeOfTheView(t *testing.T) {
	nodes := paperNodes(1)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	a := submit(t, r, 0, request("a", 1, 1, 1))
	submit(t, r, 0, request("b", 1, 1, 1))
	if _, err := r.Push(time.Hour, snapshotOf(2, nodes, make([]cluster.Load, 1))); err != nil {
		t.Fatal(err)
	}
	submit(t, r, time.Hour, request("c", 1, 1, 1))
	if s := r.Statistics(); s.SinceSnapshot != 1 || s.Decisions != 3 {
		t.Errorf("%d of %d placements since the snapshot, want 1 of 3", s.SinceSnapshot, s.Decisions)
	}
	if heard := r.Status(time.Hour + time.Second).Nodes[0].Heard; heard != time.Second {
		t.Errorf("heard %v ago, want a second", heard)
	}
	if at, ok := r.ReceivedAt(&a); !ok || at != 0 {
		t.Errorf("received at %v, %v", at, ok)
	}
	acknowledge(r, time.Hour, a)
	if _, ok := r.ReceivedAt(&a); ok {
		t.Error("an acknowledged placement is under way")
	}
}

// The staleness bound runs from the last flush, and asks for one only when there is news.
func TestStalenessRunsFromTheLastFlush(t *testing.T) {
	cfg := testConfig()
	cfg.MaxStaleness = time.Second
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(1))
	submit(t, r, 0, request("a", 1, 1, 1))
	r.Settle(time.Hour)
	if len(r.Tick(2*time.Hour).Flush) != 0 {
		t.Error("flushed without news")
	}
	submit(t, r, time.Hour, request("b", 1, 1, 1))
	for _, after := range []time.Duration{time.Second - 1, time.Second} {
		if got, want := len(r.Tick(time.Hour+after).Flush), int(after/time.Second); got != want {
			t.Errorf("%v after the last flush: %d deltas, want %d", after, got, want)
		}
	}
}

// Workers that a restarted data service does not list stay for the grace, and leave at its end.
func TestTheGraceOfARoster(t *testing.T) {
	cfg := testConfig()
	cfg.RosterGrace = time.Minute
	nodes := paperNodes(2)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	restarted := snapshotOf(1, nodes[:1], make([]cluster.Load, 1))
	restarted.Incarnation = 2
	if _, err := r.Push(time.Hour, restarted); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		nodes int
	}{{0, 2}, {time.Minute - 1, 2}, {time.Minute, 1}} {
		if noAnswer(r, time.Hour+c.after, r.Tick(time.Hour+c.after)); r.Statistics().Nodes != c.nodes {
			t.Errorf("%v after the restart: %d workers, want %d", c.after, r.Statistics().Nodes, c.nodes)
		}
	}
}

// While the candidates stay the same, a waiting task is tried every 200 ms, however often time passes.
func TestWaitingTasksAreTriedNowAndThen(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	d := submit(t, r, time.Hour, request("a", 1, 1, 1))
	var tried []time.Duration
	r.Acknowledged(time.Hour, []Dispatch{d}, refusedBy(d, cluster.QueueFull))
	for now := time.Hour; now <= time.Hour+800*ms; now += 50 * ms {
		for _, d := range r.Tick(now).Send {
			tried = append(tried, now-time.Hour)
			r.Acknowledged(now, []Dispatch{d}, refusedBy(d, cluster.QueueFull))
		}
	}
	if !slices.Equal(tried, []time.Duration{0, 200 * ms, 400 * ms, 600 * ms, 800 * ms}) {
		t.Errorf("tried after %v, want every 200 ms", tried)
	}
	if got := r.Statistics().Retries; got != 5 {
		t.Errorf("%d retries, want 5", got)
	}
}
