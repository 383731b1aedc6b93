package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The interval holds the mean, shrinks to a point when all pairs agree, and calls a clear effect clear.
func TestPairedChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Float64Range(1, 100), 2, 8).Draw(t, "baseline")
		var values []float64
		want := 0.0
		for _, b := range base {
			v := rapid.Float64Range(0.5, 200).Draw(t, "value")
			values = append(values, v)
			want += (v/b - 1) / float64(len(base))
		}
		c := PairedChange(values, base)
		if math.Abs(c.Mean-want) > 1e-9 || c.Low > c.Mean+1e-9 || c.High < c.Mean-1e-9 || c.Pairs != len(base) {
			t.Fatalf("change %+v, mean %v", c, want)
		}
	})
	same := PairedChange([]float64{8, 16, 24}, []float64{10, 20, 30})
	if math.Abs(same.Low+0.2) > 1e-9 || math.Abs(same.High+0.2) > 1e-9 || !same.Significant() {
		t.Errorf("three pairs at -20 %%: %+v", same)
	}
	if noise := PairedChange([]float64{11, 9, 10.5, 9.5}, []float64{10, 10, 10, 10}); noise.Significant() {
		t.Errorf("noise around zero is significant: %+v", noise)
	}
	if one := PairedChange([]float64{5}, []float64{10}); one.Significant() || one.Mean != -0.5 {
		t.Errorf("one pair: %+v: it has no interval", one)
	}
}

// What 95 % means: the interval of three pairs holds the true change that often, which the bootstrap's does not.
func TestFewPairsHoldTheTruth(t *testing.T) {
	const trials, truth = 2000, 0.1
	rng := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range trials {
		var values, base []float64
		for range 3 {
			b := 1 + rng.Float64()
			base, values = append(base, b), append(values, b*(1+truth+0.02*rng.NormFloat64()))
		}
		c := FewPairs(values, base)
		if c.Pairs != 3 || !(c.Low < c.Mean && c.Mean < c.High) {
			t.Fatalf("change %+v", c)
		}
		if c.Low <= truth && truth <= c.High {
			held++
		}
	}
	if sd := math.Sqrt(trials * 0.95 * 0.05); math.Abs(float64(held)-0.95*trials) > 4*sd {
		t.Errorf("%d of %d intervals hold the truth", held, trials)
	}
	if one := FewPairs([]float64{5}, []float64{10}); one.Pairs != 1 || one.Significant() {
		t.Errorf("one pair: %+v: it has no interval", one)
	}
	if none := FewPairs([]float64{5}, []float64{0}); none.Pairs != 0 || !math.IsNaN(none.Low) {
		t.Errorf("no pair: %+v", none)
	}
}
