package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/baselines"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// storm draws a small cluster, its load, and what fails.
func storm(t *rapid.T) sim.Config {
	policy := rapid.SampledFrom(baselines.Names()).Draw(t, "policy")
	nodes := append(equal("small", rapid.IntRange(1, 3).Draw(t, "small nodes"), 2),
		equal("large", rapid.IntRange(0, 2).Draw(t, "large nodes"), 4)...)
	requests := make([]generator.Request, rapid.IntRange(1, 40).Draw(t, "tasks"))
	at := time.Duration(0)
	for i := range requests {
		at += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 100, 500}).Draw(t, "gap")) * time.Millisecond
		requests[i] = unit(i, at, time.Duration(rapid.SampledFrom([]int{0, 1, 50, 1000, 4000}).Draw(t, "duration"))*time.Millisecond)
		requests[i].Demand[cluster.Cores] = int64(rapid.IntRange(1, 2).Draw(t, "cores")) * 1000
	}
	cfg := bare(t, policy, nodes, requests)
	cfg.Workload, _ = generator.NewWorkload(requests, generator.Options{AtMostOnce: rapid.IntRange(0, 3).Draw(t, "dice") == 0,
		Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	cfg.Replica.MaxAttempts, cfg.Replica.ReplaceTimeout, cfg.Patience = 1000, 2*time.Minute, 2*time.Minute // somebody always returns in time
	cfg.Schedulers = rapid.IntRange(1, 3).Draw(t, "schedulers")
	cfg.MaxBatch = rapid.SampledFrom([]int{1, 4}).Draw(t, "batch")
	cfg.Store.Batch = int64(rapid.IntRange(1, 10).Draw(t, "b"))
	cfg.Replica.DeltaBatch = rapid.IntRange(1, 3).Draw(t, "b_delta")
	cfg.Network.Delay = rapid.SampledFrom([]time.Duration{0, 100 * time.Microsecond, 50 * time.Millisecond}).Draw(t, "delay")
	station := sim.Station{Cost: rapid.SampledFrom([]time.Duration{0, 200 * time.Microsecond, 20 * time.Millisecond}).Draw(t, "cost"),
		Handlers: rapid.IntRange(1, 3).Draw(t, "handlers")}
	cfg.Network.Scheduler, cfg.Network.Data, cfg.Network.Worker = station, station, station
	cfg.Replica.MaxPending = rapid.SampledFrom([]int{3, 1 << 20}).Draw(t, "max pending")
	cfg.Limits.MaxQueue = rapid.SampledFrom([]int{2, 1 << 20}).Draw(t, "max queue")
	cfg.Store.MaxStaleness = rapid.SampledFrom([]time.Duration{0, 100 * time.Millisecond}).Draw(t, "max staleness")
	cfg.Replica.MaxStaleness = cfg.Store.MaxStaleness
	cfg.Interference = rapid.SampledFrom([]float64{0, 1}).Draw(t, "interference")
	for range rapid.IntRange(1, 5).Draw(t, "faults") {
		cfg.Faults = append(cfg.Faults, fault(t, &cfg))
	}
	return cfg
}

// fault draws what fails, when, and for how long: for a moment in which messages are on their way, for
// longer than it takes to be noticed, or for ever.
func fault(t *rapid.T, cfg *sim.Config) sim.Fault {
	moment := rapid.SampledFrom([]time.Duration{time.Microsecond, time.Millisecond, 50 * time.Millisecond, time.Second})
	amount := func(label string) time.Duration {
		return time.Duration(rapid.IntRange(1, 20).Draw(t, label)) * moment.Draw(t, label)
	}
	f := sim.Fault{What: rapid.SampledFrom([]string{"worker", "class", "scheduler", "datastore"}).Draw(t, "what"), At: amount("at")}
	switch n := rapid.SampledFrom(cfg.Nodes).Draw(t, "node"); f.What {
	case "worker":
		f.Name = n.Name
	case "class":
		f.Name = n.Class
	case "scheduler":
		f.Name = fmt.Sprint("scheduler-", rapid.IntRange(1, cfg.Schedulers).Draw(t, "which"))
	}
	if rapid.IntRange(0, 4).Draw(t, "dice") > 0 {
		f.Until = f.At + amount("for")
	}
	return f
}

// survives reports whether somebody is left, or returns, in the end to place every task and to run it. Without
// the data service nobody learns who is gone or returns; when it dies again before everybody has found it,
// neither.
func survives(cfg *sim.Config) bool {
	forEver := func(what, name, class string) bool {
		return slices.ContainsFunc(cfg.Faults, func(f sim.Fault) bool {
			return f.Until == 0 && (f.What == what && f.Name == name || f.What == "class" && f.Name == class)
		})
	}
	worker, replica := false, false
	for _, n := range cfg.Nodes {
		worker = worker || !forEver("worker", n.Name, n.Class)
	}
	for i := range cfg.Schedulers {
		replica = replica || !forEver("scheduler", fmt.Sprint("scheduler-", i+1), "no class")
	}
	return worker && replica && (len(cfg.Faults) == 1 || !forEver("datastore", "", "no class"))
}

// Whatever fails, and whenever: the run ends, breaks no invariant, and no task is lost as long as somebody
// is left to place and to run it and it may run again.
func TestStorms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := storm(t)
		endless(t, &cfg)
		rows, _ := run(t, cfg)
		atMostOnce := cfg.Workload.Task(0).AtMostOnce
		for _, r := range rows {
			if r.Outcome == cluster.Finished || r.Outcome == cluster.Lost && (atMostOnce || !survives(&cfg)) {
				continue
			}
			t.Errorf("task %s: %v (%s) after %d attempts", r.TaskID, r.Outcome, r.Reason, r.Attempts)
		}
	})
}

// endless ends a run that goes on without end. Forty tasks that three places take in turn, each for the replace
// timeout of a node that stays away, are slow but end: they need more than half a million events.
func endless(t fataler, cfg *sim.Config) {
	calls := 0
	cfg.Progress = func(ended int) bool {
		if calls++; calls > 100 {
			t.Fatalf("the run does not end: %d of %d tasks did", ended, cfg.Workload.Len())
		}
		return true
	}
}
