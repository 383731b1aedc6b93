package generator

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func manyRequests(n int, gap time.Duration) []Request {
	q := make([]Request, n)
	for i := range q {
		q[i] = Request{ID: fmt.Sprint(i), Type: "t", Start: time.Duration(i) * gap}
	}
	return q
}

func mustDue(t *testing.T, p Pacing, q []Request) []time.Duration {
	t.Helper()
	due, err := p.Due(q)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

// "Poisson arrivals" at rate q: gaps are exponential with mean 1/q, so the count is right, the
// coefficient of variation is 1, and a gap exceeds the mean with probability 1/e.
func TestPoissonGaps(t *testing.T) {
	const n, qps = 200000, 400
	due := mustDue(t, Pacing{QPS: qps, TimeScale: 1, Seed: 7}, manyRequests(n, 0))
	mean := due[n-1].Seconds() / n
	var variance, long float64
	last := time.Duration(0)
	for _, d := range due {
		gap := (d - last).Seconds()
		last = d
		variance += (gap - mean) * (gap - mean) / n
		if gap > mean {
			long += 1.0 / n
		}
	}
	if math.Abs(mean*qps-1) > 0.01 {
		t.Errorf("rate %.2f/s, want %d", 1/mean, qps)
	}
	if cv := math.Sqrt(variance) / mean; math.Abs(cv-1) > 0.01 {
		t.Errorf("coefficient of variation %.3f, want 1", cv)
	}
	if math.Abs(long-1/math.E) > 0.005 {
		t.Errorf("share of gaps above the mean %.4f, want %.4f", long, 1/math.E)
	}
}

// Gaps are fractional: whole milliseconds would make 400 a second out of 500.
func TestPoissonGapsAreNotWholeMilliseconds(t *testing.T) {
	due := mustDue(t, Pacing{QPS: 400, TimeScale: 1, Seed: 1}, manyRequests(1000, 0))
	for _, unit := range []time.Duration{time.Millisecond, time.Microsecond} {
		whole := 0
		for _, d := range due {
			if d%unit == 0 {
				whole++
			}
		}
		if whole > 20 {
			t.Errorf("%d of 1000 arrivals fall on whole %v", whole, unit)
		}
	}
}

// A seed is one pattern, with bursts or without; rate and time scale only stretch it.
func TestArrivalsPatternIsTheSeeds(t *testing.T) {
	q := manyRequests(5000, 0)
	for _, burst := range []float64{0, 5} {
		base := mustDue(t, Pacing{QPS: 1, Burst: burst, TimeScale: 1, Seed: 3}, q)
		if !slices.Equal(base, mustDue(t, Pacing{QPS: 1, Burst: burst, TimeScale: 1, Seed: 3}, q)) {
			t.Error("the same seed gives other arrivals")
		}
		if slices.Equal(base, mustDue(t, Pacing{QPS: 1, Burst: burst, TimeScale: 1, Seed: 4}, q)) {
			t.Error("another seed gives the same arrivals")
		}
		fast := mustDue(t, Pacing{QPS: 20, Burst: burst, TimeScale: 200, Seed: 3}, q)
		for i := range base {
			if off := base[i]/4000 - fast[i]; off < -1 || off > 1 {
				t.Fatalf("burst %g, arrival %d: %v at 1/s, %v at 20/s and time scale 200", burst, i, base[i], fast[i])
			}
		}
	}
}

func TestTraceTimesAreDivided(t *testing.T) {
	due := mustDue(t, Pacing{TraceScale: 4, TimeScale: 2.5}, manyRequests(1000, 333*time.Microsecond))
	for i, d := range due {
		if want := time.Duration(i) * 33300; d != want {
			t.Fatalf("request %d is due at %v, want %v", i, d, want)
		}
	}
}

func TestPacingRefusesNonsense(t *testing.T) {
	for want, p := range map[string]Pacing{
		"qps is -1":             {QPS: -1, TimeScale: 1},
		"qps is NaN":            {QPS: math.NaN(), TimeScale: 1},
		"qps is +Inf":           {QPS: math.Inf(1), TimeScale: 1},
		"burst is 0.5":          {QPS: 1, Burst: 0.5, TimeScale: 1},
		"burst is 10.1":         {QPS: 1, Burst: 10.1, TimeScale: 1},
		"burst is NaN":          {QPS: 1, Burst: math.NaN(), TimeScale: 1},
		"burst is 2 and qps 0":  {Burst: 2, TraceScale: 1, TimeScale: 1},
		"trace scale is 0":      {TimeScale: 1},
		"trace scale is NaN":    {TraceScale: math.NaN(), TimeScale: 1},
		"time scale is 0":       {QPS: 1},
		"time scale is -3":      {QPS: 1, TimeScale: -3},
		"days after the start":  {QPS: 1e-12, TimeScale: 1, Seed: 1},
		"request 1 of 2 (id \"": {QPS: 1e-300, TimeScale: 1, Seed: 1},
	} {
		_, err := p.Due(manyRequests(2, time.Hour))
		wantError(t, err, want)
	}
}

// The prototype's generator keeps whole milliseconds of a gap: the rate rises to 1/E⌊gap⌋ = (exp(rate) − 1) per ms.
func TestWholeMilliseconds(t *testing.T) {
	const n = 200_000
	p := Pacing{QPS: 400, TraceScale: 1, TimeScale: 1, Seed: 3, WholeMilliseconds: true}
	due, err := p.Due(make([]Request, n))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range due {
		if d%time.Millisecond != 0 {
			t.Fatalf("request %d is due at %v", i, d)
		}
	}
	want := 1000 * (math.Exp(p.QPS/1000) - 1)
	if got := n / due[n-1].Seconds(); math.Abs(got/want-1) > 0.02 {
		t.Errorf("%g/s, want %g/s", got, want)
	}
}
