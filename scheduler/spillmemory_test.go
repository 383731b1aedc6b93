package scheduler

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// bytesPerResult is what a scheduler keeps for each of n results that one client does not collect, each with so many bytes of output.
func bytesPerResult(t testing.TB, n, output int, spills bool) float64 {
	cfg := testConfig()
	cfg.RetainResults = n
	d := disk{}
	r := restored(t, keeping(cfg, 1, 0), paperPolicy(t), d)
	r.results.spilled.on = spills
	before := heap()
	for i := range n {
		endFor(r, time.Second, "client", fmt.Sprintf("job.%06d", i), strings.Repeat("x", output))
		if i%1000 == 0 {
			_, upTo := r.Changes(nil)
			r.Synced(upTo)
			r.Tick(time.Second)
		}
	}
	per := float64(int64(heap()-before)) / float64(n)
	runtime.KeepAlive(r)
	return per
}

// A result that waits in the journal takes less than 260 bytes of a scheduler, whatever its task has printed.
func TestSpilledResultsAreSmall(t *testing.T) {
	const n = 100_000
	for output, most := range map[int]float64{0: 260, 1000: 350} { // the newest ones have theirs
		before, after := bytesPerResult(t, n, output, false), bytesPerResult(t, n, output, true)
		t.Logf("%d uncollected results with %d bytes of output take %.0f bytes each in memory, and %.0f when they are left to the journal", n,
			output, before, after)
		if after >= most || after > before-60-float64(output)*0.9 {
			t.Errorf("%.0f bytes each, %.0f before", after, before)
		}
	}
}
