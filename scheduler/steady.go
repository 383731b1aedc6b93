package scheduler

import (
	"math"

	"dodoor/internal/cluster"
)

// A median of a few runs is a noisy figure: where run times scatter by a factor, so does what is expected on one class beside
// another, and whoever looks for the earliest end goes where chance says that tasks are short. So every writer also keeps the
// mean of the logarithms of its run times, which many runs make steady, until they change.

// Run times count as changed where the median of the newest is off the steady mean by so many of its standard errors, and by more
// than a trifle. Chance alone would need fewer. But short tasks end first: on a class that gets no more tasks the newest runs are
// the longest, and if they counted as a change it would never get tasks again.
const (
	changedBy = 8
	trifle    = 0.02
)

// settle takes one more run into the steady mean.
func (o *ownRuns) settle(took int64) {
	o.since = min(o.since+1, cluster.MaxSteady)
	o.steady += (math.Log(float64(took)) - o.steady) / float64(o.since)
}

// steady returns what is expected where the newest runs are as given, in order of size. Every writer counts by its share of them.
// It is what they usually were, if there are
// more of those and the newest are no further from it than chance takes them; else the median of the newest, and also where they
// hardly scatter, as it is exact then.
func (on *onClass) steady(newest []int64) (usual int64, changed bool) {
	var sum, weights, runs int64
	for _, s := range on.entries {
		if s.at == 0 {
			continue // it is gone, or has no more such tasks
		}
		weight := s.SteadyRuns * int64(s.at)
		sum += s.SteadyLog * weight
		weights += weight
		runs += s.SteadyRuns
	}
	if len(newest) < keptRuns || runs <= keptRuns {
		return on.median, false
	}
	before := float64(sum) / float64(weights) / 1000
	off := math.Abs(math.Log(float64(on.median)) - before)
	switch chance := changedBy * errorOfMedian(newest); {
	case off > max(chance, trifle):
		return on.median, true
	case chance <= trifle:
		return on.median, false
	}
	return int64(min(max(math.Round(math.Exp(before)), 1), float64(cluster.MaxDuration))), false
}

// errorOfMedian is the standard error of the logarithm of the median of runs in order of size, if they scatter as a lognormal
// distribution does that has their quartiles.
func errorOfMedian(runs []int64) float64 {
	const quartiles, ofMean = 1.349, 1.2533 // between them, in standard deviations; of a median beside a mean
	n := len(runs)
	scatter := math.Log(float64(runs[n-1-n/4])/float64(runs[n/4])) / quartiles
	return ofMean * scatter / math.Sqrt(float64(n))
}
