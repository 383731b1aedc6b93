package sim_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// written is a run's rows and samples, as they would be written to files.
func written(t *testing.T, cfg sim.Config) string {
	t.Helper()
	var tasks, nodes bytes.Buffer
	rows, err := generator.NewRowWriter(&tasks)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := generator.NewNodeWriter(&nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Row, cfg.Sample, cfg.SampleEvery = rows.Write, samples.Write, time.Second
	if _, err := sim.Run(cfg); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Flush(), samples.Flush()); err != nil {
		t.Fatal(err)
	}
	return tasks.String() + nodes.String()
}

// repeatable is a busy cluster in which chance decides a lot.
func repeatable(t *testing.T, policy string, seed uint64) sim.Config {
	u := setup{profile: "paper", sets: []string{"class.m510.count=4", "class.xl170.count=3", "class.c6525-25g.count=2", "class.c6620.count=2",
		"scheduler.replicas=3"}, policy: policy, trace: "functionbench", qps: 12, n: 300, seed: seed}
	cfg := u.config(t)
	cfg.Emulation.Sigma, cfg.Interference = 0.5, 0.3
	return cfg
}

// The same configuration gives the same files, byte for byte; another seed gives others.
func TestRunsRepeat(t *testing.T) {
	for _, policy := range append(baselines.Names(), sim.Oracle) {
		t.Run(policy, func(t *testing.T) {
			first := written(t, repeatable(t, policy, 1))
			if written(t, repeatable(t, policy, 1)) != first {
				t.Error("the same run gave other rows")
			}
			if written(t, repeatable(t, policy, 2)) == first {
				t.Error("another seed gave the same rows")
			}
		})
	}
}

// So it is when everything fails at some time, and everybody has to find each other again.
func TestFailuresRepeat(t *testing.T) {
	for _, policy := range baselines.Names() {
		t.Run(policy, func(t *testing.T) {
			stormy := func() sim.Config {
				cfg := repeatable(t, policy, 1)
				cfg.Faults = []sim.Fault{{What: "class", Name: "m510", At: 5 * time.Second, Until: 25 * time.Second},
					{What: "datastore", At: 10 * time.Second, Until: 11 * time.Second},
					{What: "scheduler", Name: "scheduler-2", At: 10500 * ms, Until: 20 * time.Second},
					{What: "worker", Name: "c6620-1", At: 15 * time.Second}}
				cfg.Replica.MaxAttempts = 100
				return cfg
			}
			first := written(t, stormy())
			if again := written(t, stormy()); again != first {
				t.Error("the same run gave other rows")
			}
		})
	}
}

// A row or a sample that cannot be written ends the run with the reason.
func TestWriteErrorsEndTheRun(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name string
		fail func(cfg *sim.Config, calls *int)
	}{
		{"rows", func(cfg *sim.Config, calls *int) {
			cfg.Row = func(*generator.Row) error {
				if *calls++; *calls >= 10 {
					return full
				}
				return nil
			}
		}},
		{"samples", func(cfg *sim.Config, calls *int) {
			cfg.SampleEvery = time.Second
			cfg.Sample = func(*generator.NodeSample) error {
				if *calls++; *calls >= 10 {
					return full
				}
				return nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			cfg := bare(t, "random", equal("a", 4, 4), units(20_000, 100*ms, time.Second))
			c.fail(&cfg, &calls)
			result, err := sim.Run(cfg)
			if !errors.Is(err, full) {
				t.Errorf("the run ended with %v", err)
			}
			if calls != 10 {
				t.Errorf("%d calls, want none after the one that failed", calls)
			}
			if result.Elapsed > 1000*time.Second {
				t.Errorf("the run went on until %v", result.Elapsed)
			}
		})
	}
}

// Progress is told how many tasks have ended, and ends the run when it wants to.
func TestProgress(t *testing.T) {
	cfg := bare(t, "random", equal("a", 4, 4), units(20_000, 100*ms, time.Second))
	var told []int
	cfg.Progress = func(ended int) bool {
		told = append(told, ended)
		return len(told) < 3
	}
	rows := 0
	cfg.Row = func(*generator.Row) error { rows++; return nil }
	result, err := sim.Run(cfg)
	if err != nil || !result.Stopped || len(told) != 3 || !slices.IsSorted(told) || told[0] == 0 || rows != 20_000 {
		t.Errorf("told %v, %d rows, stopped: %v, %v", told, rows, result.Stopped, err)
	}
	if n := result.Finished(); n != told[2] || result.Outcomes[cluster.Finished] != n {
		t.Errorf("%d tasks finished, want %d", n, told[2])
	}
	cancelled, abandoned := result.Outcomes[cluster.Cancelled], result.Outcomes[cluster.Lost]
	if cancelled == 0 || abandoned == 0 || cancelled != result.NotSubmitted || abandoned != result.Abandoned ||
		told[2]+cancelled+abandoned != rows {
		t.Errorf("%d not submitted, %d abandoned: %+v", cancelled, abandoned, result)
	}
	cfg.Progress = func(int) bool { return true }
	if result, err = sim.Run(cfg); err != nil || result.Stopped || result.Finished() != 20_000 {
		t.Errorf("%d tasks finished, stopped: %v, %v", result.Finished(), result.Stopped, err)
	}
}
