// Package stats has the statistics of measurements and of repeated runs: distributions, intervals over seeds, and changes
// between paired runs.
package stats

import "slices"

// Distribution describes a set of measurements. All fields are 0 when there are none.
type Distribution struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// DistributionOf sorts values in place. Its percentiles are exact, by the nearest-rank rule: the
// p-quantile of n values is the ceil(p n)-th smallest, so it is always one of the values.
func DistributionOf(values []float64) Distribution {
	if len(values) == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	return Distribution{
		Mean: Mean(values),
		P50:  NearestRank(values, 500),
		P95:  NearestRank(values, 950),
		P99:  NearestRank(values, 990),
		P999: NearestRank(values, 999),
		Max:  values[len(values)-1],
	}
}

// NearestRank returns the smallest of the sorted values that at least so many thousandths of them do not exceed.
// Thousandths, because 0.95 has no exact float, and ceil would show it.
func NearestRank[T any](sorted []T, perMille int) T {
	rank := (len(sorted)*perMille + 999) / 1000
	return sorted[rank-1]
}

// Mean adds from first to last. That of gonum adds in an order that depends on where the values lie in memory, so its
// last bit may differ from run to run; files that hold figures to the last bit would differ with it.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Ratio is 0 where there is nothing to divide by: an empty run has no rate, rather than NaN.
func Ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
