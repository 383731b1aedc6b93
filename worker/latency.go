package worker

import (
	"math/bits"
	"slices"
	"time"
)

// latencies remembers how long recent tasks took from arrival to end, by the number of tasks that
// they found on the node (their RIF, requests in flight). A probe is answered with the median of
// those that found about as many as there are now, which is what the next task has to expect
// (Prequal, NSDI'24). Memory is bounded: numbers share a bucket the more the larger they are, and a
// bucket keeps the newest only.
type latencies struct {
	buckets []*recent // up to the highest that was needed
}

const (
	recentLatencies = 16
	exactRIFs       = 32 // one bucket each; above, eight per power of two
)

// recent is a ring of the newest latencies.
type recent struct {
	values [recentLatencies]time.Duration
	n      int // ever stored
}

func (r *recent) all() []time.Duration { return r.values[:min(r.n, recentLatencies)] }

// bucket returns the index of the bucket for a RIF; it grows with rif.
func bucket(rif int64) int {
	if rif < exactRIFs {
		return int(rif)
	}
	power := bits.Len64(uint64(rif)) - 1 // >= 5
	eighth := int(rif>>(power-3)) & 7
	return exactRIFs + 8*(power-5) + eighth
}

func (l *latencies) add(rif int64, latency time.Duration) {
	at := bucket(rif)
	for len(l.buckets) <= at {
		l.buckets = append(l.buckets, nil)
	}
	b := &l.buckets[at]
	if *b == nil {
		*b = new(recent)
	}
	(*b).values[(*b).n%recentLatencies] = latency
	(*b).n++
}

// median returns the median latency at rif or, where nothing was observed, at the nearest RIFs, both
// sides together; it is negative when nothing was observed at all. The lower middle one of an even
// number counts, so that the answer is a latency that was observed.
func (l *latencies) median(rif int64) time.Duration {
	at := bucket(rif)
	for distance := range max(at+1, len(l.buckets)-at) {
		var seen [2 * recentLatencies]time.Duration
		found := append(seen[:0], l.observed(at-distance)...)
		if distance > 0 {
			found = append(found, l.observed(at+distance)...)
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found[(len(found)-1)/2]
		}
	}
	return -1
}

func (l *latencies) observed(i int) []time.Duration {
	if i < 0 || i >= len(l.buckets) || l.buckets[i] == nil {
		return nil
	}
	return l.buckets[i].all()
}
