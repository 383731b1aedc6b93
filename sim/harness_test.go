package sim_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/scheduler"
	"dodoor/sim"
	"dodoor/worker"
)

// setup is the configuration of a run: a profile, a trace, and what a test changes.
type setup struct {
	profile string
	sets    []string
	policy  string
	trace   string // functionbench, azure, or a file of the published data
	qps     float64
	n       int
	seed    uint64
}

// config builds the simulator's configuration, with the paper's network unless a test changes it.
func (u setup) config(t testing.TB) sim.Config {
	t.Helper()
	c, err := conf.Load(u.profile, u.sets)
	if err != nil {
		t.Fatal(err)
	}
	dims, err := c.Dimensions()
	if err != nil {
		t.Fatal(err)
	}
	k := baselines.DefaultKnobs()
	k.Prequal.Reuse = 1
	view := baselines.ViewOf(u.policy, k)
	cfg := sim.Config{
		Workload: u.workload(t, c), Warmup: 100, Schedulers: c.Scheduler.Replicas, Policy: u.policy, Knobs: k,
		Replica: scheduler.Config{Seed: u.seed, DeltaBatch: c.Scheduler.BDelta, SelfCorrection: view >= baselines.Corrected,
			Riders: view == baselines.Fresh, MaxAttempts: 5, ReplaceTimeout: 30 * time.Second, RosterGrace: 5 * time.Second,
			MaxPending: 1 << 24, RetainResults: 1024, RetainFor: time.Hour, Dimensions: dims, Types: c.TaskTypes()},
		Store:     datastore.Config{Batch: int64(c.Datastore.B), NodeTimeout: 5 * time.Second},
		Limits:    worker.DefaultLimits(),
		Emulation: worker.Emulation{Seed: u.seed}, MaxBatch: 1, Heartbeat: time.Second,
		Network: sim.Network{Delay: 100 * time.Microsecond,
			Scheduler: sim.Station{Cost: 200 * time.Microsecond, Handlers: 8},
			Data:      sim.Station{Cost: 200 * time.Microsecond, Handlers: 8},
			Worker:    sim.Station{Cost: 200 * time.Microsecond, Handlers: 16}},
	}
	for _, class := range c.Classes {
		for i := range class.Count {
			cfg.Nodes = append(cfg.Nodes, cluster.Node{Name: nodeName(class.Name, i), Class: class.Name,
				Capacity: class.Capacity(dims), Slots: c.SlotsOn(class)})
		}
	}
	return cfg
}

func (u setup) workload(t testing.TB, c *conf.Config) *generator.Workload {
	t.Helper()
	var requests []generator.Request
	var err error
	switch u.trace {
	case "functionbench":
		requests, err = generator.FunctionBench(c.TaskTypes(), generator.ReferenceClass, generator.ShortOnly, u.n, u.seed)
	case "azure":
		requests, err = generator.Azure(u.n, u.seed)
	default:
		requests, err = readTrace(t, u.trace, u.n)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := generator.NewWorkload(requests, generator.Options{N: u.n, NoDisk: true,
		Pacing: generator.Pacing{QPS: u.qps, TraceScale: 1, TimeScale: 1, Seed: u.seed}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// readTrace reads a trace of the reference data, which may be absent.
func readTrace(t testing.TB, name string, n int) ([]generator.Request, error) {
	t.Helper()
	file, err := os.Open(needs.Reference(t, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return generator.ReadTrace(file, cluster.Standard(), n)
}

func nodeName(class string, i int) string { return fmt.Sprintf("%s-%d", class, i+1) }

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
	k := baselines.DefaultKnobs()
	view := baselines.ViewOf(policy, k)
	station := sim.Station{Handlers: 8}
	return sim.Config{
		Workload: w, Nodes: nodes, Schedulers: 1, Policy: policy, Knobs: k,
		Replica: scheduler.Config{Seed: 1, DeltaBatch: 8, SelfCorrection: view >= baselines.Corrected, Riders: view == baselines.Fresh,
			MaxAttempts: 5, ReplaceTimeout: 30 * time.Second, RosterGrace: 5 * time.Second, MaxPending: 1 << 24, RetainResults: 1024,
			RetainFor: time.Hour, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated"}}},
		Store:  datastore.Config{Batch: 100, NodeTimeout: 5 * time.Second},
		Limits: worker.DefaultLimits(), Emulation: worker.Emulation{Seed: 1}, MaxBatch: 1, Heartbeat: time.Second,
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
