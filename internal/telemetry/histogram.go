package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bucket i of a Histogram counts durations in (100 ns x 2^(i-1), 100 ns x 2^i]; the last one with
// a bound reaches 859 s, the first power of two beyond ten minutes, and one more takes the rest.
const (
	firstBound  = 100 * time.Nanosecond
	bucketCount = 34
)

// bounds are the buckets' upper bounds in seconds.
var bounds = func() (all []float64) {
	for i := range bucketCount {
		all = append(all, (firstBound << i).Seconds())
	}
	return all
}()

// Histogram counts durations in fixed buckets, each twice as wide as the one before. Observing
// takes no lock and allocates nothing. The zero value is not usable.
type Histogram struct{ live prometheus.Histogram }

// Observe counts d. A negative duration counts as zero: it is what two readings of an adjusted
// wall clock yield, and a falling sum would read as a restart.
func (h Histogram) Observe(d time.Duration) { h.live.Observe(max(d, 0).Seconds()) }
