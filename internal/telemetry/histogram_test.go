package telemetry

import (
	"math"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	metrics "github.com/rcrowley/go-metrics"
	"pgregory.net/rapid"
)

func sampleHistogram() Histogram {
	return NewRegistry("worker", "w0").Histogram("run_seconds", "Run.")
}

// published is what a scrape would get.
func (h Histogram) published(t rapid.TB) *dto.Histogram {
	t.Helper()
	var out dto.Metric
	if err := h.live.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Histogram
}

func TestBoundsSpanTheirRange(t *testing.T) {
	if firstBound != 100*time.Nanosecond {
		t.Errorf("first bound is %v", firstBound)
	}
	if last := firstBound << (bucketCount - 1); last < 10*time.Minute || last/2 >= 10*time.Minute {
		t.Errorf("last bound is %v, want the first power of two beyond ten minutes", last)
	}
}

// Bounds are inclusive to the nanosecond, although they are published in seconds.
func TestHistogramAgainstAList(t *testing.T) {
	durations := rapid.Custom(func(t *rapid.T) time.Duration {
		near := firstBound << rapid.IntRange(0, bucketCount).Draw(t, "bound")
		return near + time.Duration(rapid.Int64Range(-2, 2).Draw(t, "offset"))
	})
	rapid.Check(t, func(t *rapid.T) {
		observed := rapid.SliceOfN(durations, 0, 200).Draw(t, "observed")
		h := sampleHistogram()
		var sum time.Duration
		for _, d := range observed {
			h.Observe(d)
			sum += d
		}
		got := h.published(t)
		if got.GetSampleCount() != uint64(len(observed)) {
			t.Fatalf("count %d, want %d", got.GetSampleCount(), len(observed))
		}
		if math.Abs(got.GetSampleSum()-sum.Seconds()) > 1e-12*sum.Seconds() {
			t.Fatalf("sum %v s, want %v", got.GetSampleSum(), sum.Seconds())
		}
		for i := range bucketCount {
			bound, want := firstBound<<i, uint64(0)
			for _, d := range observed {
				if d <= bound {
					want++
				}
			}
			if b := got.Bucket[i]; b.GetCumulativeCount() != want || b.GetUpperBound() != bound.Seconds() {
				t.Fatalf("%d observations up to %v s, want %d up to %v", b.GetCumulativeCount(), b.GetUpperBound(), want, bound)
			}
		}
	})
}

func TestNegativeDurationCountsAsZero(t *testing.T) {
	h := sampleHistogram()
	h.Observe(-time.Hour)
	if got := h.published(t); got.GetSampleCount() != 1 || got.GetSampleSum() != 0 || got.Bucket[0].GetCumulativeCount() != 1 {
		t.Errorf("got %v", got)
	}
}

func TestUpdatesAllocateNothing(t *testing.T) {
	h := sampleHistogram()
	if n := testing.AllocsPerRun(1000, func() { h.Observe(time.Second) }); n != 0 {
		t.Errorf("%v allocations per update", n)
	}
}

// BenchmarkObserve holds the cost of an observation beside that of a timer of go-metrics, without the
// meter inside it, whose goroutine never ends.
func BenchmarkObserve(b *testing.B) {
	h := sampleHistogram()
	timer := metrics.NewCustomTimer(metrics.NewHistogram(metrics.NewExpDecaySample(1028, 0.015)), metrics.NilMeter{})
	for _, c := range []struct {
		name    string
		observe func(time.Duration)
	}{{"histogram", h.Observe}, {"go-metrics-timer", timer.Update}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.observe(3 * time.Millisecond)
			}
		})
	}
}
