package sim_test

import (
	"strings"
	"testing"
	"time"

	"dodoor/scheduler"
	"dodoor/sim"
)

// From the middle of the run on, tasks of one type take three times as long, and nobody is told: estimates stay what they
// were, but for those that know the future.
func TestDurationsChange(t *testing.T) {
	const tasks = 40
	for _, c := range []struct {
		policy, typ string
		estimates   scheduler.Estimates
		changes     bool
	}{
		{"dodoor", "", scheduler.Given, true}, {"dodoor", "simulated", scheduler.Given, true}, {"dodoor", "other", scheduler.Given, false},
		{sim.Oracle, "", scheduler.Given, true}, {"dodoor", "", scheduler.Exact, true},
	} {
		requests := units(tasks, 3*time.Second, time.Second)
		cfg := bare(t, c.policy, equal("a", 2, 1), requests)
		cfg.Change = sim.Change{Type: c.typ, From: 0.5, Factor: 3}
		cfg.Replica.Estimates = c.estimates
		cfg.Replica.Foresee = cfg.Emulation.Factor
		rows, _ := run(t, cfg)
		for i := range requests {
			r := rows[requests[i].ID]
			takes, estimate := time.Second, int64(1000)
			if c.changes && i >= tasks/2 {
				takes = 3 * time.Second
				if c.estimates == scheduler.Exact {
					estimate = 3000
				}
			}
			if got := r.Finished - r.Started; got != takes || r.Estimate != estimate {
				t.Errorf("%+v: task %d takes %v, estimated %d ms, want %v and %d", c, i, got, r.Estimate, takes, estimate)
			}
		}
	}
}

func TestImpossibleChanges(t *testing.T) {
	for want, change := range map[string]sim.Change{"change from 2": {From: 2, Factor: 1}, "change by -1": {Factor: -1},
		"change by 1001": {Factor: 1001}} {
		cfg := bare(t, "dodoor", equal("a", 1, 1), units(1, 0, time.Second))
		cfg.Change = change
		if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
