package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"dodoor/report"
)

// Statistics describe the runs of one mode.
type Statistics struct {
	Runs           int
	Mean, P50, P95 time.Duration // start-up included
	Variation      float64       // standard deviation over the mean; 0 for a single run
	Startup        time.Duration // mean
	Cores          float64       // kept busy, mean
	PeakMemory     int64         // MiB, the most
}

// StatisticsOf describes runs; there has to be one.
func StatisticsOf(runs []Run) Statistics {
	s := Statistics{Runs: len(runs)}
	totals := make([]time.Duration, len(runs))
	var sum, startup, busy float64
	for i := range runs {
		r := &runs[i]
		totals[i] = r.Total
		sum, startup, busy = sum+float64(r.Total), startup+float64(r.Startup), busy+r.cores()
		s.PeakMemory = max(s.PeakMemory, r.PeakMemory)
	}
	n := float64(len(runs))
	mean := sum / n
	s.Mean, s.Startup, s.Cores = time.Duration(mean), time.Duration(startup/n), busy/n
	s.P50, s.P95 = percentile(totals, 50), percentile(totals, 95)
	squares := 0.0
	for _, t := range totals {
		squares += (float64(t) - mean) * (float64(t) - mean)
	}
	if n > 1 && mean > 0 {
		s.Variation = math.Sqrt(squares/(n-1)) / mean
	}
	return s
}

// String is a line for people.
func (s Statistics) String() string {
	ms := func(d time.Duration) int64 { return d.Round(time.Millisecond).Milliseconds() }
	runs := "1 run"
	if s.Runs != 1 {
		runs = fmt.Sprintf("%d runs", s.Runs)
	}
	return fmt.Sprintf("%s: mean %d ms, P50 %d, P95 %d, CV %.1f %%; start-up %d ms, %.2f cores, %d MiB at most",
		runs, ms(s.Mean), ms(s.P50), ms(s.P95), 100*s.Variation, ms(s.Startup), s.Cores, s.PeakMemory)
}

func percentile[T cmp.Ordered](values []T, percent int) T {
	return report.NearestRank(slices.Sorted(slices.Values(values)), 10*percent)
}
