package sim_test

import (
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// A task alone on a node takes 1 + interference times its share of the cores as long.
func TestInterferenceOfALoneTask(t *testing.T) {
	for _, c := range []struct {
		interference float64
		cores        int64 // of eight
		want         time.Duration
	}{{0, 8, 1000 * ms}, {0.5, 8, 1500 * ms}, {0.5, 4, 1250 * ms}, {1, 2, 1250 * ms}, {2, 1, 1250 * ms}} {
		requests := units(1, 0, time.Second)
		requests[0].Demand[cluster.Cores] = c.cores * 1000
		cfg := bare(t, "random", equal("a", 1, 8), requests)
		cfg.Interference = c.interference
		rows, _ := run(t, cfg)
		if r := rows["0"]; r.Finished-r.Started != c.want {
			t.Errorf("interference %v, %d of 8 cores: %v, want %v", c.interference, c.cores, r.Finished-r.Started, c.want)
		}
	}
}

// What counts is what is reserved when a task starts, itself included.
func TestInterferenceOfNeighbours(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 4), units(6, 0, time.Second))
	cfg.Interference = 1
	rows, _ := run(t, cfg)
	for id, want := range map[string]time.Duration{"0": 1250 * ms, "1": 1500 * ms, "2": 1750 * ms, "3": 2000 * ms, // 1 to 4 of 4 cores
		"4": 2000 * ms, "5": 2000 * ms} { // each in the place of one that ended
		if r := rows[id]; r.Finished-r.Started != want {
			t.Errorf("task %s took %v, want %v", id, r.Finished-r.Started, want)
		}
	}
}

// A worker's handlers share its cores with its tasks.
func TestInterferenceWithHandlers(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 2), units(3, time.Second, time.Minute))
	cfg.Network.Worker.Cost, cfg.Interference = 10*ms, 1
	rows, _ := run(t, cfg)
	for id, want := range map[string]time.Duration{"0": 20 * ms, "1": 15 * ms, "2": 20 * ms} { // with the handshake; half busy; full
		if r := rows[id]; r.Enqueued-r.Received != want {
			t.Errorf("placement %s took %v, want %v", id, r.Enqueued-r.Received, want)
		}
	}
}

// Noise is worker.Emulation's, task by task, so that a real run has the same durations: a factor of mean 1.
func TestNoise(t *testing.T) {
	const n, sigma = 20_000, 0.5
	cfg := bare(t, "random", equal("a", 10, 64), units(n, 10*ms, time.Second))
	cfg.Emulation = worker.Emulation{Sigma: sigma, Seed: 7}
	rows, _ := run(t, cfg)
	sum, squares := 0.0, 0.0
	for id, r := range rows {
		took := r.Finished - r.Started
		want := cfg.Emulation.Duration(&worker.Start{Shape: cluster.Shape{Duration: 1000}, TimeScale: 1, Seed: cluster.HashID(id)})
		if took != want {
			t.Fatalf("task %s took %v, want %v", id, took, want)
		}
		sum += took.Seconds()
		squares += math.Log(took.Seconds()) * math.Log(took.Seconds())
	}
	if mean := sum / n; math.Abs(mean-1) > 0.02 {
		t.Errorf("mean factor %v, want 1", mean)
	}
	if spread := math.Sqrt(squares/n - sigma*sigma*sigma*sigma/4); math.Abs(spread-sigma) > 0.02 {
		t.Errorf("sigma %v, want %v", spread, sigma)
	}
}

// Tasks run into their time limit, as real ones do.
func TestTimeLimit(t *testing.T) {
	for _, c := range []struct {
		interference float64
		want         cluster.Outcome
		takes        time.Duration
	}{{0, cluster.Finished, time.Second}, {0.5, cluster.Finished, 1500 * ms}, {0.8, cluster.TimedOut, 1500 * ms}} {
		cfg := bare(t, "random", equal("a", 1, 1), units(2, 0, time.Second))
		cfg.Limits.TimeoutFactor, cfg.Interference = 1.5, c.interference
		rows, result := run(t, cfg)
		if result.Outcomes[c.want] != 2 {
			t.Errorf("interference %v: outcomes %v, want two %v", c.interference, result.Outcomes, c.want)
		}
		for _, r := range rows {
			if r.Finished-r.Started != c.takes || c.want == cluster.TimedOut && r.Reason != "ran past its time limit" {
				t.Errorf("interference %v: %v (%s) after %v", c.interference, r.Outcome, r.Reason, r.Finished-r.Started)
			}
		}
	}
}
