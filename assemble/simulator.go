package assemble

import (
	"time"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// Simulator describes the whole cluster of the configuration, as one process would run it, to the simulator.
func Simulator(c *conf.Config, workload *generator.Workload) (sim.Config, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return sim.Config{}, err
	}
	cfg := sim.Config{
		Workload: workload, Warmup: c.Generator.Warmup, Schedulers: c.Scheduler.Replicas,
		Policy: c.Scheduler.Policy, Knobs: c.Policies, Replica: replicaConfig(c, dims), Store: storeConfig(c),
		Limits: workerLimits(c), Emulation: emulation(c), Reestimate: c.Worker.Reestimate, MaxBatch: batch(c),
		NodeGrace: time.Duration(c.Scheduler.NodeGrace),
		Heartbeat: time.Duration(c.Worker.Heartbeat),
		Network:   network(c), Interference: c.Sim.Interference, Skew: c.Sim.Skew, Quirks: c.Sim.Quirks,
	}
	cfg.Change = sim.Change{Type: c.Sim.Change.Type, From: c.Sim.Change.From, Factor: c.Sim.Change.Factor}
	// Results are collected at the moment at which they come about, so a replica never holds more than a
	// few. How many tasks may be pending stays what it is: that is when submissions are refused.
	cfg.Replica.RetainResults = min(cfg.Replica.RetainResults, simRetained)
	for _, f := range c.Sim.Faults {
		cfg.Faults = append(cfg.Faults, sim.Fault{What: f.What, Name: f.Name, At: time.Duration(f.At), Until: time.Duration(f.Until)})
	}
	cfg.Nodes, err = clusterNodes(c, dims)
	cfg.SampleEvery = sampleEvery(workload, cfg.Nodes)
	return cfg, err
}

const simRetained = 1024

// network is what messages cost; every service works on as many at a time as its real self.
func network(c *conf.Config) sim.Network {
	s := &c.Sim
	return sim.Network{
		Delay:     time.Duration(s.Delay),
		Scheduler: sim.Station{Cost: time.Duration(s.SchedulerCost), Handlers: c.Scheduler.MaxRPCs},
		Data:      sim.Station{Cost: time.Duration(s.DatastoreCost), Handlers: c.Datastore.MaxRPCs},
		Worker:    sim.Station{Cost: time.Duration(s.WorkerCost), Handlers: c.Worker.MaxRPCs},
	}
}

// clusterNodes lists all workers in the order in which they are started.
func clusterNodes(c *conf.Config, dims cluster.Dimensions) ([]cluster.Node, error) {
	var nodes []cluster.Node
	err := EachWorker(*c, func(own *conf.Config) error {
		n, err := node(own, dims)
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}

// Samples of the nodes are a second apart, as on a real cluster, unless the run is long: half a million
// lines say no more than a few hundred looks.
const (
	leastBetweenSamples = time.Second
	looks               = 200
)

// sampleEvery divides how long the run takes at least: until the last arrival, and until all work is
// done if no core ever rests.
func sampleEvery(w *generator.Workload, nodes []cluster.Node) time.Duration {
	var cores, work float64 // millicores; millicores times milliseconds
	for i := range nodes {
		cores += float64(nodes[i].Capacity[cluster.Cores])
	}
	for i := range w.Len() {
		t := w.Task(i)
		work += float64(t.Demand[cluster.Cores]) * float64(*t.Duration) / w.TimeScale()
	}
	span := max(float64(w.Due(w.Len()-1)), work/cores*float64(time.Millisecond))
	return max(leastBetweenSamples, time.Duration(span/looks))
}
