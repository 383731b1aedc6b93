package report

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

// distributionOf sorts values in place. Its percentiles are exact, by the nearest-rank rule: the
// p-quantile of n values is the ceil(p n)-th smallest, so it is always one of the values.
func distributionOf(values []float64) Distribution {
	if len(values) == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Distribution{
		Mean: sum / float64(len(values)),
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
