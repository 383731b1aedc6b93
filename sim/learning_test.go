package sim_test

import (
	"testing"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
)

// What schedulers learn and tell each other is the same in the simulator and over the wire, also when everybody fails once:
// every task is placed and estimated alike. The accounts of both end at exactly zero, which every run checks.
func TestTheSimulatorConformsWhileSchedulersLearn(t *testing.T) {
	for _, policy := range []string{"dodoor", "dodoor+", "ect", "pot"} {
		for name, faults := range map[string][]sim.Fault{"no faults": nil, "everybody restarts": weather["everybody restarts"]} {
			t.Run(policy+", "+name, func(t *testing.T) {
				t.Parallel()
				cfg := failingCluster(t, policy, 1)
				cfg.Faults, cfg.Replica.Estimates = faults, scheduler.Cold
				conform(t, cfg)
			})
		}
	}
}

// Learning draws no lots: a run repeats byte for byte, and other estimates make another run.
func TestLearningRunsRepeat(t *testing.T) {
	files := map[scheduler.Estimates]string{}
	for _, e := range []scheduler.Estimates{scheduler.Given, scheduler.Learned, scheduler.Cold, scheduler.Exact} {
		cfg := repeatable(t, "dodoor+", 1)
		cfg.Replica.Estimates, cfg.Replica.Foresee = e, cfg.Emulation.Factor
		files[e] = written(t, cfg)
		if written(t, cfg) != files[e] {
			t.Errorf("%v: the same run gave other rows", e)
		}
	}
	if files[scheduler.Given] == files[scheduler.Cold] || files[scheduler.Given] == files[scheduler.Exact] {
		t.Error("estimates make no difference")
	}
}

// An emulated task takes the same time however it is estimated, and exact estimates are what it takes.
func TestEstimatesDoNotChangeWhatTasksTake(t *testing.T) {
	for _, e := range []scheduler.Estimates{scheduler.Given, scheduler.Cold, scheduler.Exact} {
		cfg := failingCluster(t, "dodoor+", 1)
		cfg.Replica.Estimates, cfg.Replica.Foresee = e, cfg.Emulation.Factor
		rows, _ := run(t, cfg)
		for i := range cfg.Workload.Len() {
			task := cfg.Workload.Task(i)
			row := rows[task.ID]
			took := float64((row.Finished - row.Started).Microseconds()) / 1000
			want := float64(*task.Duration) * cfg.Emulation.Factor(cluster.HashID(task.ID))
			if took-want > 0.01 || want-took > 0.01 {
				t.Errorf("%v: task %s took %v ms, given were %v", e, task.ID, took, want)
			}
			if estimate := float64(row.Estimate); e == scheduler.Exact && (estimate-took > 0.51 || took-estimate > 0.51) {
				t.Errorf("task %s took %v ms, exactly estimated at %v", task.ID, took, estimate)
			}
		}
	}
}
