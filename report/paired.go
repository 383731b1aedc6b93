package report

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Change is how much a figure differs from the baseline's, as a share of the baseline's (-0.1: ten per
// cent less): the mean over paired runs and its 95 % bootstrap interval.
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

// PairedChange compares runs that share their seed pairwise. A pair whose baseline is zero says nothing
// about shares and is left out.
func PairedChange(values, baseline []float64) Change {
	var shares []float64
	for i := range min(len(values), len(baseline)) {
		if baseline[i] != 0 {
			shares = append(shares, values[i]/baseline[i]-1)
		}
	}
	c := Change{Pairs: len(shares), Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(shares) == 0 {
		return c
	}
	c.Mean = mean(shares)
	c.Low, c.High = bootstrap(shares)
	return c
}

// bootstrap is the 95 % percentile interval of the mean under resampling.
func bootstrap(shares []float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(resampleSeed, uint64(len(shares))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range shares {
			sum += shares[rng.IntN(len(shares))]
		}
		means[i] = sum / float64(len(shares))
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000-1]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
