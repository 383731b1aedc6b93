package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The p-quantile by nearest rank is the smallest value that at least a share p of the values does
// not exceed.
func TestQuantilesAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(-50, 50), func(i int) float64 { return float64(i) / 4 }), 1, 2500).Draw(t, "values")
		d := DistributionOf(slices.Clone(values))
		for perMille, got := range map[int]float64{500: d.P50, 950: d.P95, 990: d.P99, 999: d.P999, 1000: d.Max} {
			least := math.Inf(1)
			for _, v := range values {
				below := 0
				for _, w := range values {
					if w <= v {
						below++
					}
				}
				if below*1000 >= perMille*len(values) {
					least = min(least, v)
				}
			}
			if got != least {
				t.Fatalf("quantile %d/1000 of %v: %g, want %g", perMille, values, got, least)
			}
		}
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		if math.Abs(d.Mean-sum/float64(len(values))) > 1e-9 {
			t.Fatalf("mean %g of %v", d.Mean, values)
		}
	})
}

// Student's t at 0.975: 12.706 with one degree of freedom, 2.776 with four.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		mean, half float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{1, 3}, 2, 12.7062 * math.Sqrt2 / math.Sqrt2},
		{[]float64{1, 2, 3, 4, 5}, 3, 2.77645 * math.Sqrt(2.5) / math.Sqrt(5)},
	} {
		if e := EstimateOf(c.values); e.Mean != c.mean || math.Abs(e.Half-c.half) > 1e-3 || e.N != len(c.values) {
			t.Errorf("%v: got %+v, want %g ± %g", c.values, e, c.mean, c.half)
		}
	}
}
