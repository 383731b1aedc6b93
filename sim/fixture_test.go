package sim

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// tiny is a cluster of n equal nodes with two cores each, without load, for tests that look inside.
func tiny(t testing.TB, policy string, n int) Config {
	t.Helper()
	cfg := Config{
		Schedulers: 1, Policy: policy, Knobs: baselines.Defaults(),
		Replica: scheduler.Config{Seed: 1, DeltaBatch: 8, MaxAttempts: 5, ReplaceTimeout: 30 * time.Second, RosterGrace: 5 * time.Second,
			MaxPending: 1 << 20, RetainResults: 1024, RetainFor: time.Hour, Dimensions: cluster.Standard(),
			Types: []cluster.TaskType{{Name: "simulated"}}},
		Store:  datastore.Config{Batch: 100, NodeTimeout: 5 * time.Second},
		Limits: worker.DefaultLimits(), MaxBatch: 1, NodeGrace: 2 * time.Second, Heartbeat: time.Second,
	}
	cfg.Network.Scheduler.Handlers, cfg.Network.Data.Handlers, cfg.Network.Worker.Handlers = 8, 8, 8
	for i := range n {
		cfg.Nodes = append(cfg.Nodes, cluster.Node{Name: fmt.Sprint("n", i+1), Class: "any", Slots: 2, Capacity: cluster.Resources{2000, 4096}})
	}
	return cfg.with(t, 1)
}

// with gives a configuration n tasks of one core that arrive at the same time and take a second.
func (c Config) with(t testing.TB, n int) Config {
	t.Helper()
	requests := make([]generator.Request, n)
	for i := range requests {
		requests[i] = generator.Request{ID: strconv.Itoa(i), Type: "simulated", Duration: 1000, Demand: cluster.Resources{1000}}
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c.Workload = w
	return c
}

// start prepares a run that has not begun.
func start(t testing.TB, cfg Config) *Simulation {
	t.Helper()
	if err := cfg.validate(); err != nil {
		t.Fatal(err)
	}
	s, err := newSimulation(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
