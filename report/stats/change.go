package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Change is how much a figure differs from the baseline's, as a share of the baseline's (-0.1: ten per
// cent less): the mean over paired runs and its 95 % interval.
type Change struct {
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pairs int     `json:"pairs"`
}

// Significant reports whether the interval excludes no change at all. A single pair has no interval.
func (c Change) Significant() bool { return c.Pairs > 1 && (c.Low > 0 || c.High < 0) }

const (
	resamples    = 10_000
	resampleSeed = 0x626f6f74 // fixed, so that the same runs give the same interval
)

// PairedChange compares runs that share their seed pairwise; the interval is the bootstrap's. A pair whose
// baseline is zero says nothing about shares and is left out.
func PairedChange(values, baseline []float64) Change {
	return changeOf(pairedShares(values, baseline), bootstrap)
}

// FewPairs is PairedChange with the interval of Student's t, for proofs from a handful of pairs: the
// bootstrap's interval of three is no more than their range, which misses the mean of a normal
// distribution one time in four.
func FewPairs(values, baseline []float64) Change {
	return changeOf(pairedShares(values, baseline), func(shares []float64) (low, high float64) {
		e := EstimateOf(shares)
		return e.Mean - e.Half, e.Mean + e.Half
	})
}

func pairedShares(values, baseline []float64) []float64 {
	var shares []float64
	for i := range min(len(values), len(baseline)) {
		if baseline[i] != 0 {
			shares = append(shares, values[i]/baseline[i]-1)
		}
	}
	return shares
}

func changeOf(shares []float64, interval func(shares []float64) (low, high float64)) Change {
	c := Change{Pairs: len(shares), Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(shares) == 0 {
		return c
	}
	c.Mean = Mean(shares)
	c.Low, c.High = interval(shares)
	return c
}

// bootstrap is the 95 % percentile interval of the mean under resampling.
func bootstrap(shares []float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(resampleSeed, uint64(len(shares))))
	means, sample := make([]float64, resamples), make([]float64, len(shares))
	for i := range means {
		for j := range sample {
			sample[j] = shares[rng.IntN(len(shares))]
		}
		means[i] = Mean(sample)
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000-1]
}
