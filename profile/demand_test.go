package profile

import (
	"math"
	"slices"
	"testing"
	"time"

	"dodoor/conf"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// Five runs of 1 s with 200 ms of start-up, whose program kept 0.5 to 0.9 cores busy for 800 ms and held
// 100 to 104 MiB: nearest rank makes both percentiles of five the largest.
func TestDemandByHand(t *testing.T) {
	var runs []Run
	for i := range 5 {
		runs = append(runs, Run{Total: 1000 * ms, Startup: 200 * ms, CPU: time.Duration(400+80*i) * ms, PeakMemory: int64(100 + i)})
	}
	runs[4].Total += 5 * ms // the mean becomes 1001 ms
	want := conf.Shape{Cores: 0.9, MemoryMB: 125 + 8, Duration: conf.Duration(1001 * ms)}
	if got := Demand(runs, conf.Shape{Cores: 4, MemoryMB: 4096}); !same(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Demand(runs, conf.Shape{Cores: 0.25, MemoryMB: 105}); got.Cores != 0.25 || got.MemoryMB != 105 {
		t.Errorf("a limit that was enough is enough: %+v", got)
	}
}

func same(a, b conf.Shape) bool {
	return a.Cores == b.Cores && a.MemoryMB == b.MemoryMB && a.DiskMB == b.DiskMB && a.Duration == b.Duration
}

// What takes nothing needs the least there is, and what takes exactly a tenth more does not need two.
func TestLeastDemand(t *testing.T) {
	limit := conf.Shape{Cores: 4, MemoryMB: 4096}
	for _, c := range []struct {
		run   Run
		cores float64
		mib   int64
		d     time.Duration
	}{
		{Run{}, 0.1, 8, ms},
		{Run{Total: 400 * time.Microsecond}, 0.1, 8, ms},
		{Run{Total: time.Second, CPU: 300 * ms, PeakMemory: 10}, 0.3, 20, time.Second},
		{Run{Total: time.Second, CPU: 301 * ms, PeakMemory: 1}, 0.4, 10, time.Second},
		{Run{Total: 10 * ms, Startup: 10 * ms, CPU: ms}, 4, 8, 10 * ms},
	} {
		want := conf.Shape{Cores: c.cores, MemoryMB: c.mib, Duration: conf.Duration(c.d)}
		if got := Demand([]Run{c.run}, limit); !same(got, want) {
			t.Errorf("%+v: got %+v, want %+v", c.run, got, want)
		}
	}
}

func anyRun(t *rapid.T) Run {
	total := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "total"))
	return Run{
		Total: total, Startup: time.Duration(rapid.Int64Range(0, int64(total)).Draw(t, "startup")),
		CPU: time.Duration(rapid.Int64Range(0, int64(4*total)).Draw(t, "cpu")), PeakMemory: rapid.Int64Range(0, 1<<20).Draw(t, "peak"),
	}
}

var anyRuns = rapid.SliceOfN(rapid.Custom(anyRun), 1, 40)

// Under no limit to speak of, a demand covers 95 % of what was used and 99 % of what was held, and is of
// the smallest step that does.
func TestDemandCoversTheRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := anyRuns.Draw(t, "runs")
		d := Demand(runs, conf.Shape{Cores: math.Inf(1), MemoryMB: math.MaxInt64})
		covers := func(cores float64, memory int64) (byCores, byMemory int) {
			for i := range runs {
				if runs[i].cores() <= cores+1e-9/coreSteps { // what Demand takes for noise
					byCores++
				}
				if float64(runs[i].PeakMemory)*memoryMargin+spareMemory <= float64(memory)+1e-6 {
					byMemory++
				}
			}
			return byCores, byMemory
		}
		n := len(runs)
		if c, m := covers(d.Cores, d.MemoryMB); c*100 < 95*n || m*100 < 99*n {
			t.Fatalf("%+v covers %d and %d of %d runs", d, c, m, n)
		}
		if c, m := covers(d.Cores-0.1, d.MemoryMB-1); d.Cores > leastCores && c*100 >= 95*n || d.MemoryMB > spareMemory && m*100 >= 99*n {
			t.Fatalf("%+v is more than needed: less covers %d and %d of %d runs", d, c, m, n)
		}
		if whole := math.Round(d.Cores*coreSteps) / coreSteps; whole != d.Cores {
			t.Fatalf("%v cores are no tenths", d.Cores)
		}
	})
}

// More room never makes a demand smaller, and the order of the runs does not matter.
func TestDemandAndLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := anyRuns.Draw(t, "runs")
		limit := conf.Shape{Cores: float64(rapid.IntRange(1, 40).Draw(t, "tenths")) / 10, MemoryMB: rapid.Int64Range(1, 1<<20).Draw(t, "memory")}
		small, large := Demand(runs, limit), Demand(runs, conf.Shape{Cores: 2 * limit.Cores, MemoryMB: 2 * limit.MemoryMB})
		if small.Cores > limit.Cores || small.MemoryMB > limit.MemoryMB ||
			small.Cores > large.Cores || small.MemoryMB > large.MemoryMB || small.Duration != large.Duration {
			t.Fatalf("%+v under %+v, %+v under twice as much", small, limit, large)
		}
		slices.Reverse(runs)
		if again := Demand(runs, limit); !same(again, small) {
			t.Fatalf("%+v, and %+v in the other order", small, again)
		}
	})
}
