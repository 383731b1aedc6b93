package sim_test

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/sim"
)

// A node reports tasks that run longer than estimated while nothing ends.
func TestSchedulersHearOfOverruns(t *testing.T) {
	reports := map[bool]int64{}
	for _, reestimate := range []bool{false, true} {
		cfg := bare(t, "dodoor+", equal("a", 8, 2), units(400, 100*time.Millisecond, time.Second))
		cfg.Emulation.Sigma, cfg.Reestimate = 1.5, reestimate
		rows, result := run(t, cfg)
		for id, r := range rows {
			if r.Outcome != cluster.Finished || r.Attempts != 1 {
				t.Fatalf("%s: %+v", id, r)
			}
		}
		for _, counts := range result.Counters.Data {
			reports[reestimate] += counts
		}
	}
	if reports[true] <= reports[false] {
		t.Errorf("%d messages at the data service with the rule, %d without: nobody hears of tasks that run longer", reports[true],
			reports[false])
	}
}

// Where tasks take as long as estimated the rule changes nothing, not even a report.
func TestExactEstimatesAreNeverOverrun(t *testing.T) {
	var results [2]sim.Result
	for i := range results {
		cfg := bare(t, "dodoor+", equal("a", 8, 2), units(400, 100*time.Millisecond, time.Second))
		cfg.Reestimate = i == 1
		_, results[i] = run(t, cfg)
	}
	if results[0].Messages != results[1].Messages || results[0].Elapsed != results[1].Elapsed {
		t.Errorf("%+v with the rule, %+v without", results[1], results[0])
	}
}
