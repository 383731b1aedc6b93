package generator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// dispersion is the index of dispersion of counts in windows of w mean gaps, 1 + 2p(B-1)²T in the limit.
func dispersion(burst, w float64) float64 {
	phases := w / ((1 - busyShare) * busyLength)
	return 1 + 2*busyShare*(burst-1)*(burst-1)*busyLength*(1-(1-math.Exp(-phases))/phases)
}

// counts returns how many arrivals fall into each of n windows of w mean gaps.
func counts(p Pacing, w float64, n int) []float64 {
	in := make([]float64, n)
	next := p.clock()
	for at := next(); at < w*float64(n); at = next() {
		in[int(at/w)]++
	}
	return in
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Whatever the burst, the mean rate is qps: over a long run, and in the first moments of many.
func TestBurstsKeepTheMeanRate(t *testing.T) {
	for _, burst := range []float64{1, 1.5, 6, MaxBurst} {
		const long, short, runs = 1_000_000, 50, 5_000
		got := counts(Pacing{QPS: 1, Burst: burst, Seed: 5}, long, 1)[0] / long
		if sigma := math.Sqrt(dispersion(burst, long) / long); math.Abs(got-1) > 4*sigma {
			t.Errorf("burst %g: mean rate %.4f over a long run, want 1 ± %.4f", burst, got, 4*sigma)
		}
		got = 0
		for seed := range uint64(runs) {
			got += counts(Pacing{QPS: 1, Burst: burst, Seed: seed}, short, 1)[0] / (runs * short)
		}
		if sigma := math.Sqrt(dispersion(burst, short) / (runs * short)); math.Abs(got-1) > 4*sigma {
			t.Errorf("burst %g: mean rate %.4f at the start of %d runs, want 1 ± %.4f", burst, got, runs, 4*sigma)
		}
	}
}

// Counts vary as the formula says, in windows shorter and longer than a busy phase.
func TestBurstsHaveTheirIndexOfDispersion(t *testing.T) {
	for _, burst := range []float64{1, 3, MaxBurst} {
		for _, w := range []float64{10, 100, 2000} {
			in := counts(Pacing{QPS: 1, Burst: burst, Seed: 9}, w, int(2_000_000/w))
			mean, variance := meanOf(in), 0.0
			for _, n := range in {
				variance += (n - mean) * (n - mean) / float64(len(in))
			}
			got, want := variance/mean, dispersion(burst, w)
			if math.Abs(got/want-1) > 0.15 || burst > 1 && got < 1.5 {
				t.Errorf("burst %g: index of dispersion %.2f in windows of %g mean gaps, want %.2f", burst, got, w, want)
			}
		}
	}
}

// The n-th arrival is where the rate, integrated over the phases one by one, reaches the sum of n gaps.
func TestBurstsFollowTheirPhases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		burst, seed := rapid.Float64Range(1.001, MaxBurst).Draw(t, "burst"), rapid.Uint64().Draw(t, "seed")
		gaps, phases := rand.New(rand.NewPCG(seed, arrivalStream)), rand.New(rand.NewPCG(seed, burstStream))
		busy := phases.Float64() < busyShare
		rate, start, end, passed := 0.0, 0.0, 0.0, 0.0 // of the phase; integral up to its start
		goal, last := 0.0, 0.0
		next := Pacing{QPS: 1, Burst: burst, Seed: seed}.clock()
		for i := range 3000 {
			for goal += gaps.ExpFloat64(); passed+rate*(end-start) < goal; busy = !busy {
				passed, start = passed+rate*(end-start), end
				rate, end = burst, start+busyLength*phases.ExpFloat64()
				if !busy {
					rate, end = (1-busyShare*burst)/(1-busyShare), start+(end-start)*(1-busyShare)/busyShare
				}
			}
			at := next()
			if reached := passed + rate*(at-start); math.Abs(reached-goal) > 1e-6*goal || at < last {
				t.Fatalf("arrival %d at %g after %g: the rate adds up to %g, want %g", i, at, last, reached, goal)
			}
			last = at
		}
	})
}

// Without bursts nothing is drawn for them: arrivals are the sums of exponential gaps, bit by bit.
func TestNoBurstsIsPlainPoisson(t *testing.T) {
	q := manyRequests(2000, 0)
	plain := mustDue(t, Pacing{QPS: 1, TimeScale: 1, Seed: 3}, q)
	if !slices.Equal(plain, mustDue(t, Pacing{QPS: 1, Burst: 1, TimeScale: 1, Seed: 3}, q)) {
		t.Error("burst 1 differs from none")
	}
	if slices.Equal(plain, mustDue(t, Pacing{QPS: 1, Burst: 2, TimeScale: 1, Seed: 3}, q)) {
		t.Error("burst 2 does not differ from none")
	}
	rng, sum := rand.New(rand.NewPCG(3, arrivalStream)), 0.0
	for i, due := range plain {
		if sum += rng.ExpFloat64(); due.Nanoseconds() != int64(math.Round(sum*1e9)) {
			t.Fatalf("arrival %d at %v, want %g s", i, due, sum)
		}
	}
}
