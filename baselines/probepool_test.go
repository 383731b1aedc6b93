package baselines

import (
	"math"
	"slices"
	"testing"
	"time"

	"dodoor/scheduler"
)

// "At most m = 16 entries; on overflow the oldest goes."
func TestPrequalPoolIsBounded(t *testing.T) {
	p, v := prequalOn(t, 100)
	for i := range 20 {
		hear(p, v, time.Duration(i), i, 0, 0)
	}
	want := []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	if got := pooled(p); !slices.Equal(got, want) {
		t.Errorf("pool %v, want the newest 16", got)
	}
}

// "A new answer replaces the node's older one."
func TestPrequalNewerAnswerReplaces(t *testing.T) {
	p, v := prequalOn(t, 100)
	for i := range 16 {
		hear(p, v, 0, i, 3, 30)
	}
	hear(p, v, 1, 0, 7, 70)
	if got := pooled(p); len(got) != 16 || got[0] != 1 || got[15] != 0 {
		t.Fatalf("pool %v; node 0 is the newest now, and nobody had to go", got)
	}
	if e := p.pool.entries[15]; e.rif != 7 || e.latency != 70*time.Millisecond || e.received != 1 {
		t.Errorf("entry %+v holds the older answer", e)
	}
}

// "Older than 1 s goes."
func TestPrequalAgeLimit(t *testing.T) {
	p, v := prequalOn(t, 100)
	hear(p, v, 0, 1, 0, 0)
	hear(p, v, 1, 2, 0, 0)
	p.pool.expire(time.Second, v)
	if got := pooled(p); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("after exactly 1 s the pool holds %v, want both", got)
	}
	p.pool.expire(time.Second+1, v)
	if got := pooled(p); !slices.Equal(got, []int{2}) {
		t.Errorf("after more than 1 s the pool holds %v, want [2]", got)
	}
}

func TestPrequalFailedProbeSaysNothing(t *testing.T) {
	p, v := prequalOn(t, 100)
	hear(p, v, 0, 1, 4, 0)
	p.Probed(0, scheduler.Probe{Task: unit(1), Node: 1, Failed: true}, v)
	p.Probed(0, scheduler.Probe{Task: unit(1), Node: 2, Failed: true}, v)
	if got := pooled(p); !slices.Equal(got, []int{1}) || p.rifs.added != 1 {
		t.Errorf("pool %v and %d RIFs after two failures", got, p.rifs.added)
	}
}

// "b_reuse = max{1, (1+δ)/((1−m/n)·r_probe − r_remove)}: n = 100: 1.316; denominator ≤ 0 → 16."
func TestPrequalReuseFormula(t *testing.T) {
	k := DefaultPrequal()
	for _, c := range []struct {
		n    int
		want float64
	}{{100, 2 / (0.84*3 - 1)}, {1000000, 1}, {48, 2}, {24, 16}, {16, 16}, {10, 16}, {25, 16}} {
		if got := k.reuse(c.n); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("n = %d: b_reuse = %v, want %v", c.n, got, c.want)
		}
	}
	if got := k.reuse(100); math.Abs(got-1.316) > 0.0005 {
		t.Errorf("n = 100: b_reuse = %v, published 1.316", got)
	}
	k.Reuse = 1
	if got := k.reuse(100); got != 1 {
		t.Errorf("the Dodoor paper's b_reuse = 1 (Sec. 6.1) became %v", got)
	}
}

// "Randomly rounded to a neighbouring integer so that its mean is exact."
func TestPrequalRoundingHasTheExactMean(t *testing.T) {
	const grid = 1 << 16
	for _, x := range []float64{1, 1.25, 2 / 1.52, 3.999, 16} {
		sum := 0
		for i := range grid {
			got := roundAt(x, float64(i)/grid)
			if float64(got) != math.Floor(x) && float64(got) != math.Ceil(x) {
				t.Fatalf("%v was rounded to %d", x, got)
			}
			sum += got
		}
		if mean := float64(sum) / grid; math.Abs(mean-x) > 1.0/grid {
			t.Errorf("%v is rounded to %v on average", x, mean)
		}
	}
}

// The coin is fair and its own for every task and node: the uses of pool entries average b_reuse.
func TestPrequalUsesAverageTheBudget(t *testing.T) {
	const n = 20000
	p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Probes, k.Removals = 3, 1 })
	sum, different := 0, 0
	for i := range n {
		task := unit(i)
		a, b := p.uses(task, i%100, v), p.uses(task, (i+1)%100, v)
		sum += a
		if a != b {
			different++
		}
	}
	want, fraction := 2/1.52, 2/1.52-1
	if mean := float64(sum) / n; math.Abs(mean-want) > 6*math.Sqrt(fraction*(1-fraction)/n) {
		t.Errorf("mean %v, want %v", mean, want)
	}
	if expected := 2 * fraction * (1 - fraction) * n; math.Abs(float64(different)-expected) > 0.1*expected {
		t.Errorf("the coins of one task's probes differ %d times, %.0f if independent", different, expected)
	}
}

// "Only the chosen entry is charged; its RIF is raised by one on use." An entry without uses left goes.
func TestPrequalChargesOnlyTheChosen(t *testing.T) {
	p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Reuse, k.Quantile = 2, 1 })
	hear(p, v, 0, 1, 5, 10)
	hear(p, v, 0, 2, 5, 20)
	hear(p, v, 0, 3, 5, 30)
	if got := placedOn(t, p.Submit(0, unit(1), v)); got != 1 {
		t.Fatalf("placed on %d", got)
	}
	for i, want := range []poolEntry{{node: 1, rif: 6, uses: 1}, {node: 2, rif: 5, uses: 2}, {node: 3, rif: 5, uses: 2}} {
		if e := p.pool.entries[i]; e.node != want.node || e.rif != want.rif || e.uses != want.uses {
			t.Errorf("node %d: RIF %d, %d uses left; want node %d, RIF %d, %d uses", e.node, e.rif, e.uses, want.node, want.rif, want.uses)
		}
	}
	placedOn(t, p.Submit(0, unit(2), v))
	if got := pooled(p); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("pool %v; node 1 served twice with b_reuse = 2", got)
	}
}

// "Removal: alternating oldest and worst (worst: if any hot, the hot one with most RIF, else the cold
// one with most latency)."
func TestPrequalRemovalAlternates(t *testing.T) {
	p, v := prequalOn(t, 100)
	for i, e := range []struct{ rif, latency int64 }{{1, 10}, {9, 1}, {2, 90}, {20, 2}, {3, 50}, {1, 5}} {
		hear(p, v, time.Duration(i), i, e.rif, e.latency)
	}
	const hot = 5 // nodes 1 and 3 are
	for i, want := range [][]int{
		{1, 2, 3, 4, 5}, // oldest
		{1, 2, 4, 5},    // worst: hot with most RIF
		{2, 4, 5},       // oldest
		{4, 5},          // worst: all cold, most latency
		{5},             // oldest
		{},              // worst, the last one
		{},              // nothing left
	} {
		p.pool.remove(hot)
		if got := pooled(p); !slices.Equal(got, want) {
			t.Fatalf("after removal %d the pool holds %v, want %v", i+1, got, want)
		}
	}
}

// r_remove = 1 per query.
func TestPrequalRemovesOnePerQuery(t *testing.T) {
	p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Removals, k.Reuse = 1, 16 })
	for i := range 10 {
		hear(p, v, 0, i, 0, 0)
	}
	for left := 9; left >= 5; left-- {
		p.Submit(0, unit(left), v)
		if got := len(p.pool.entries); got != left {
			t.Fatalf("%d entries left, want %d", got, left)
		}
	}
}
