package telemetry

import (
	"math"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slowBucket is bucketOf as its doc comment says it: the first bound that reaches d.
func slowBucket(d time.Duration) int {
	for i := range bucketCount {
		if d <= firstBound<<i {
			return i
		}
	}
	return bucketCount
}

func TestBucketBoundsAreInclusive(t *testing.T) {
	for i := range bucketCount {
		bound := firstBound << i
		for _, d := range []time.Duration{bound - 1, bound, bound + 1} {
			if got, want := bucketOf(d), slowBucket(d); got != want {
				t.Errorf("%v falls into bucket %d, want %d", d, got, want)
			}
		}
	}
	if got := bucketOf(math.MaxInt64); got != bucketCount {
		t.Errorf("the longest duration falls into bucket %d, want the one without a bound, %d", got, bucketCount)
	}
}

func TestBoundsSpanTheirRange(t *testing.T) {
	if firstBound != 100*time.Nanosecond {
		t.Errorf("first bound is %v", firstBound)
	}
	if last := firstBound << (bucketCount - 1); last < 10*time.Minute || last/2 >= 10*time.Minute {
		t.Errorf("last bound is %v, want the first power of two beyond ten minutes", last)
	}
}

func TestHistogramAgainstAList(t *testing.T) {
	durations := rapid.Custom(func(t *rapid.T) time.Duration {
		near := firstBound << rapid.IntRange(0, bucketCount).Draw(t, "bound")
		return near + time.Duration(rapid.Int64Range(-200, 200).Draw(t, "offset"))
	})
	rapid.Check(t, func(t *rapid.T) {
		observed := rapid.SliceOfN(durations, 0, 200).Draw(t, "observed")
		var h Histogram
		for _, d := range observed {
			h.Observe(d)
		}
		got := h.totals()
		if got.count != uint64(len(observed)) {
			t.Fatalf("count %d, want %d", got.count, len(observed))
		}
		var sum time.Duration
		for _, d := range observed {
			sum += max(d, 0)
		}
		if got.seconds != sum.Seconds() && math.Abs(got.seconds-sum.Seconds()) > 1e-12*sum.Seconds() {
			t.Fatalf("sum %v s, want %v", got.seconds, sum.Seconds())
		}
		for i := range bucketCount {
			bound, want := firstBound<<i, uint64(0)
			for _, d := range observed {
				if d <= bound {
					want++
				}
			}
			if n := got.cumulative[bound.Seconds()]; n != want {
				t.Fatalf("%d observations up to %v, want %d", n, bound, want)
			}
		}
	})
}

func TestNegativeDurationCountsAsZero(t *testing.T) {
	var h Histogram
	h.Observe(-time.Hour)
	got := h.totals()
	if got.count != 1 || got.seconds != 0 || got.cumulative[firstBound.Seconds()] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestConcurrentObservationsAreAllCounted(t *testing.T) {
	const goroutines, each = 8, 2000
	var h Histogram
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				h.Observe(time.Millisecond)
			}
		})
	}
	all.Wait()
	if got := h.totals(); got.count != goroutines*each || got.seconds != goroutines*each/1000 {
		t.Errorf("%d observations of %v s in all, want %d of %d s",
			got.count, got.seconds, goroutines*each, goroutines*each/1000)
	}
}

func TestUpdatesAllocateNothing(t *testing.T) {
	r := NewRegistry("worker", "w0")
	c, h := r.Counter("tasks_total", "Tasks."), r.Histogram("run_seconds", "Run.")
	if n := testing.AllocsPerRun(1000, func() { c.Inc(); h.Observe(time.Second) }); n != 0 {
		t.Errorf("%v allocations per update", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	var h Histogram
	for b.Loop() {
		h.Observe(3 * time.Millisecond)
	}
}
