package profile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dodoor/report/stats"

	"gonum.org/v1/gonum/stat"
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
	var totals, startups, busy []float64
	for i := range runs {
		r := &runs[i]
		totals, startups, busy = append(totals, float64(r.Total)), append(startups, float64(r.Startup)), append(busy, r.cores())
		s.PeakMemory = max(s.PeakMemory, r.PeakMemory)
	}
	mean, deviation := stat.MeanStdDev(totals, nil)
	s.Mean, s.Startup, s.Cores = time.Duration(mean), time.Duration(stat.Mean(startups, nil)), stat.Mean(busy, nil)
	s.P50, s.P95 = time.Duration(percentile(totals, 50)), time.Duration(percentile(totals, 95))
	if len(runs) > 1 && mean > 0 {
		s.Variation = deviation / mean
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
	return stats.NearestRank(slices.Sorted(slices.Values(values)), 10*percent)
}
