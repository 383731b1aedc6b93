package sim_test

import (
	"fmt"
	"math"
	"testing"
)

// submissions counts the tasks that each scheduler got.
func submissions(t *testing.T, n, schedulers int, skew float64) []int64 {
	t.Helper()
	cfg := bare(t, "random", equal("a", 4, 8), units(n, ms, ms))
	cfg.Schedulers, cfg.Skew = schedulers, skew
	_, result := run(t, cfg)
	got := make([]int64, schedulers)
	for i := range got {
		got[i] = result.Counters.Schedulers[fmt.Sprint("scheduler-", i+1)]["in.submit"]
	}
	return got
}

// The first scheduler gets its share exactly, and the others the rest evenly, at the end and, since it is in
// turn, at any time.
func TestSkew(t *testing.T) {
	for _, skew := range []float64{0, 0.05, 0.2, 0.6, 0.7, 0.999, 1} {
		for _, schedulers := range []int{1, 2, 3, 5} {
			for _, n := range []int{1, 7, 100, 997} {
				got := submissions(t, n, schedulers, skew)
				share := skew
				if schedulers == 1 {
					share = 1
				} else if skew == 0 {
					share = 1 / float64(schedulers)
				}
				if math.Abs(float64(got[0])-share*float64(n)) > 1 {
					t.Errorf("skew %v, %d tasks: %v, want %v for the first", skew, n, got, share*float64(n))
				}
				for _, other := range got[1:] {
					if even := float64(int64(n)-got[0]) / float64(schedulers-1); math.Abs(float64(other)-even) > 1 {
						t.Errorf("skew %v, %d tasks: %v, want %v for each of the others", skew, n, got, even)
					}
				}
			}
		}
	}
}

// Without skew, submissions take turns.
func TestTurns(t *testing.T) {
	cfg := bare(t, "random", equal("a", 4, 8), units(20, ms, ms))
	cfg.Schedulers = 3
	rows, _ := run(t, cfg)
	for i := range 20 {
		if got, want := rows[fmt.Sprint(i)].Scheduler, fmt.Sprint("scheduler-", i%3+1); got != want {
			t.Errorf("task %d went to %s, want %s", i, got, want)
		}
	}
}
