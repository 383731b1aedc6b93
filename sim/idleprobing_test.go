package sim_test

import (
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/sim"
)

// Prequal's idle probing (NSDI'24) in the simulator and in the real services alike, counted like any other
// probe: with a task every ten seconds and a maximum idle time of three, three rounds follow every task
// but the last, which is done before one is due.
func TestIdleProbesAreCounted(t *testing.T) {
	for idle, rounds := range map[time.Duration]int64{0: 0, 3 * time.Second: 6} {
		cfg := bare(t, "prequal", equal("a", 5, 8), units(3, 10*time.Second, time.Second))
		cfg.Knobs.Find("prequal").(*baselines.PrequalKnobs).Idle = idle
		result, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := 3 * (3 + rounds) // r_probe per task and round
		simulated := result.Counters.Schedulers
		real := runReal(t, cfg).Counters.Schedulers
		if len(simulated) != 1 || len(real) != 1 {
			t.Fatalf("counters of %d and %d schedulers, want one", len(simulated), len(real))
		}
		for name := range real {
			if s, r := simulated[name]["out.probe"], real[name]["out.probe"]; s != want || r != want {
				t.Errorf("idle time %v: %d probes simulated, %d real, want %d", idle, s, r, want)
			}
		}
	}
}
