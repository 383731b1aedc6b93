package baselines

import (
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// An entry whose RIF is the threshold is cold. Cold entries go by latency, hot ones behind them by RIF; of equals the
// older one is as good as it gets.
func TestPrequalOrderOfEntries(t *testing.T) {
	const hot = 5
	at := func(rif int64, latency time.Duration) poolEntry { return poolEntry{rif: rif, latency: latency} }
	for _, c := range []struct {
		what   string
		e, o   poolEntry
		before bool
	}{
		{"cold, slower", at(hot, 10), at(hot, 5), false},
		{"cold, faster", at(hot, 5), at(1, 10), true},
		{"cold, equal", at(1, 5), at(2, 5), false},
		{"cold against hot", at(hot, 100), at(hot+1, 1), true},
		{"hot against cold", at(hot+1, 1), at(hot, 100), false},
		{"hot, fewer tasks", at(hot+1, 100), at(hot+2, 1), true},
		{"hot, equal", at(hot+1, 1), at(hot+1, 100), false},
	} {
		if got := c.e.before(&c.o, hot); got != c.before {
			t.Errorf("%s: before %v, want %v", c.what, got, c.before)
		}
	}
}

// The oldest node in a pool that has room is replaced by its own newer answer like any other.
func TestPrequalTheOldestIsReplacedAsWell(t *testing.T) {
	p, v := prequalOn(t, 100)
	for _, node := range []int{3, 4, 3} {
		hear(p, v, 0, node, 1, 1)
	}
	if got := pooled(p); !slices.Equal(got, []int{4, 3}) {
		t.Errorf("pool %v, want each node once", got)
	}
}

// Entries that cannot run a task do not hide those that can.
func TestPrequalLooksBehindInfeasibleEntries(t *testing.T) {
	p, v := prequalOn(t, 100)
	for node := range 4 {
		hear(p, v, 0, node, 1, int64(10-node))
	}
	task := unit(1)
	task.Tried = &cluster.Tried{Node: 0, Earlier: &cluster.Tried{Node: 3}}
	if best, ok := p.pool.best(task, v, 100); !ok || p.pool.entries[best].node != 2 {
		t.Errorf("entry %d, %v: want node 2, the faster of the two that can run it", best, ok)
	}
}

// Rounds begin with the first task that is placed, not with one that fits nowhere.
func TestIdleProbesBeginWithAPlacement(t *testing.T) {
	p, v := idleOn(t, 10)
	if decision := p.Submit(0, taskOf(1, 1000), v); len(decision.Place) != 0 {
		t.Fatal("a task of a thousand cores was placed")
	}
	if got := len(p.Tick(time.Hour, v).Probe); got != 0 {
		t.Errorf("%d probes before any task was placed", got)
	}
	p.Submit(time.Hour, unit(1), v)
	if got := len(p.Tick(2*time.Hour, v).Probe); got == 0 {
		t.Error("no probes after a task was placed")
	}
}
