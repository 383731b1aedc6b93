package sim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"dodoor/assemble"
	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
	"dodoor/worker"
)

// setup is the configuration of a run: a profile, a trace, and what a test changes.
type setup struct {
	profile string
	sets    []string
	policy  string
	trace   string // functionbench or azure
	qps     float64
	n       int
	seed    uint64
}

// config builds the simulator's configuration as dodoor simulate does. Tests change the rest.
func (u setup) config(t testing.TB) sim.Config {
	t.Helper()
	c, err := conf.Load(u.profile, append([]string{fmt.Sprintf("scheduler.policy=%q", u.policy), "generator.trace=" + u.trace,
		fmt.Sprint("generator.qps=", u.qps), fmt.Sprint("generator.n=", u.n), fmt.Sprint("seed=", u.seed), "generator.warmup=100"}, u.sets...))
	if err != nil {
		t.Fatal(err)
	}
	w, err := assemble.Workload(c, "")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := assemble.Simulator(c, w)
	if err != nil {
		t.Fatal(err)
	}
	cfg.SampleEvery = 0 // nobody looks
	return cfg
}

func nodeName(class string, i int) string { return cluster.WorkerName(class, i) }

// fataler is a test, a benchmark or a property.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// bare is a cluster whose messages take no time and whose tasks bring their own figures: what is left to
// observe is queueing. Tests add what they are about.
func bare(t fataler, policy string, nodes []cluster.Node, requests []generator.Request) sim.Config {
	t.Helper()
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	k := baselines.Defaults()
	station := sim.Station{Handlers: 8}
	return sim.Config{
		Workload: w, Nodes: nodes, Schedulers: 1, Policy: policy, Knobs: k,
		Replica: scheduler.Config{Seed: 1, DeltaBatch: 8,
			MaxAttempts: 5, ReplaceTimeout: 30 * time.Second, RosterGrace: 5 * time.Second, MaxPending: 1 << 24, RetainResults: 1024,
			RetainFor: time.Hour, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated"}}},
		Store:  datastore.Config{Batch: 100, NodeTimeout: 5 * time.Second},
		Limits: worker.DefaultLimits(), Emulation: worker.Emulation{Seed: 1}, MaxBatch: 1, NodeGrace: 2 * time.Second, Heartbeat: time.Second,
		Network: sim.Network{Scheduler: station, Data: station, Worker: station},
	}
}

// equal is n nodes of one class with so many cores each, a slot per core.
func equal(class string, n, cores int) []cluster.Node {
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = cluster.Node{Name: nodeName(class, i), Class: class, Slots: cores, Capacity: cluster.Resources{int64(cores) * 1000, 65536}}
	}
	return nodes
}

// unit is a task of one core that arrives at start and takes so long.
func unit(id int, start, duration time.Duration) generator.Request {
	return generator.Request{ID: strconv.Itoa(id), Type: "simulated", Start: start, Duration: duration.Milliseconds(),
		Demand: cluster.Resources{cluster.Cores: 1000}}
}

// units is n tasks that arrive at regular intervals.
func units(n int, every, duration time.Duration) []generator.Request {
	requests := make([]generator.Request, n)
	for i := range requests {
		requests[i] = unit(i, time.Duration(i)*every, duration)
	}
	return requests
}

// run runs the simulation, which must end well, and returns its rows by task.
func run(t fataler, cfg sim.Config) (map[string]generator.Row, sim.Result) {
	t.Helper()
	rows := map[string]generator.Row{}
	cfg.Row = func(r *generator.Row) error {
		if _, twice := rows[r.TaskID]; twice {
			return fmt.Errorf("task %s has two rows", r.TaskID)
		}
		rows[r.TaskID] = *r
		return nil
	}
	result, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != cfg.Workload.Len() {
		t.Fatalf("%d rows of %d tasks", len(rows), cfg.Workload.Len())
	}
	return rows, result
}

// workload is n tasks at once that need so much for a millisecond.
func workload(t fataler, n int, demand cluster.Resources) *generator.Workload {
	t.Helper()
	requests := units(n, 0, time.Millisecond)
	for i := range requests {
		requests[i].Demand = demand
	}
	return bare(t, "random", nil, requests).Workload
}
