package profile

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The definition: the least of the values that a share of them does not exceed.
func TestPercentile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(-50, 50), 1, 300).Draw(t, "values")
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		least := math.MaxInt
		for _, v := range values {
			below := 0
			for _, w := range values {
				if w <= v {
					below++
				}
			}
			if below*100 >= percent*len(values) {
				least = min(least, v)
			}
		}
		if got := percentile(values, percent); got != least {
			t.Fatalf("%d %% of %v: %d, want %d", percent, values, got, least)
		}
	})
}

func TestStatisticsByHand(t *testing.T) {
	s := StatisticsOf([]Run{
		{Total: 100 * ms, Startup: 20 * ms, CPU: 40 * ms, PeakMemory: 7},
		{Total: 300 * ms, Startup: 40 * ms, CPU: 260 * ms, PeakMemory: 9},
		{Total: 200 * ms, Startup: 0, CPU: 0, PeakMemory: 8},
	})
	want := Statistics{Runs: 3, Mean: 200 * ms, P50: 200 * ms, P95: 300 * ms, Variation: 0.5, Startup: 20 * ms, Cores: 0.5, PeakMemory: 9}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if line := s.String(); line != "3 runs: mean 200 ms, P50 200, P95 300, CV 50.0 %; start-up 20 ms, 0.50 cores, 9 MiB at most" {
		t.Errorf("says %q", line)
	}
	if one := StatisticsOf([]Run{{Total: time.Second}}); one.Variation != 0 || !strings.HasPrefix(one.String(), "1 run: mean 1000 ms") {
		t.Errorf("one run has no spread: %+v, %v", one, one)
	}
}

func TestStatisticsLieWithinTheRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := anyRuns.Draw(t, "runs")
		least, most := runs[0].Total, runs[0].Total
		for _, r := range runs {
			least, most = min(least, r.Total), max(most, r.Total)
		}
		s := StatisticsOf(runs)
		if s.Mean < least-1 || s.Mean > most || s.P50 < least || s.P95 > most || s.P50 > s.P95 || !(s.Variation >= 0) || s.Startup > most {
			t.Fatalf("%+v of runs between %v and %v", s, least, most)
		}
		if least == most && s.Variation > 1e-9 {
			t.Fatalf("equal runs vary by %g", s.Variation)
		}
	})
}
