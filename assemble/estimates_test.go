package assemble

import (
	"strings"
	"testing"

	"dodoor/conf"
)

// Nobody foresees how long real work takes; how long emulated tasks take is known, here and in the simulator.
func TestExactEstimatesAreForEmulatedTasks(t *testing.T) {
	for _, c := range []struct {
		executor  string
		simulated bool
		refused   string
	}{
		{"sleep", false, ""}, {"stress-ng", true, ""},
		{"stress-ng", false, `scheduler.estimates is "exact", but executor stress-ng does real work`},
	} {
		cfg, err := conf.Load("single", []string{"scheduler.estimates=exact", "worker.noise=1"})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Worker.Executor, cfg.Generator.TimeScale, cfg.Scheduler.Policy = c.executor, 1, "dodoor"
		err = CheckPolicy(cfg, c.simulated)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", c.executor, err, c.refused)
		}
		dims, err := cfg.Dimensions()
		if err != nil {
			t.Fatal(err)
		}
		if replica := replicaConfig(cfg, dims); replica.Foresee(7) != emulation(cfg).Factor(7) || replica.Foresee(7) == 1 {
			t.Errorf("%s: the factor of a task is %v", c.executor, replica.Foresee(7))
		}
	}
}
