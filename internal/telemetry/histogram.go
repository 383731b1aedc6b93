package telemetry

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Bucket i of a Histogram counts durations in (100 ns x 2^(i-1), 100 ns x 2^i]; the last one with
// a bound reaches 859 s, the first power of two beyond ten minutes, and one more takes the rest.
const (
	firstBound  = 100 * time.Nanosecond
	bucketCount = 34
)

// Histogram counts durations in fixed buckets, each twice as wide as the one before. Observing
// takes no lock and allocates nothing.
type Histogram struct {
	buckets [bucketCount + 1]atomic.Uint64
	sum     atomic.Uint64 // nanoseconds, as the bits of a float64: an integer would overflow within weeks under 10,000 waiting tasks
}

// Observe counts d. A negative duration counts as zero: it is what two readings of an adjusted
// wall clock yield, and a falling sum would read as a restart.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	h.buckets[bucketOf(d)].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+float64(d))) {
			return
		}
	}
}

// bucketOf returns the smallest i with d <= 100 ns x 2^i, or bucketCount when no bound reaches d.
func bucketOf(d time.Duration) int {
	if d <= firstBound {
		return 0
	}
	return min(bits.Len64(uint64((d-1)/firstBound)), bucketCount)
}

// totals is what Prometheus wants to know of a histogram.
type totals struct {
	count      uint64
	seconds    float64
	cumulative map[float64]uint64 // observations up to a bound in seconds
}

// totals reads the buckets one after another: an observation made meanwhile may be missing from
// the sum, yet the count always equals the buckets.
func (h *Histogram) totals() totals {
	t := totals{cumulative: make(map[float64]uint64, bucketCount)}
	for i := range bucketCount {
		t.count += h.buckets[i].Load()
		t.cumulative[(firstBound << i).Seconds()] = t.count
	}
	t.count += h.buckets[bucketCount].Load()
	t.seconds = math.Float64frombits(h.sum.Load()) / float64(time.Second)
	return t
}
