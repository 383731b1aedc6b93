package sim

import (
	"fmt"
	"slices"
	"time"

	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// Config is one simulated run.
type Config struct {
	Workload *generator.Workload
	Warmup   int // first tasks, marked in their rows

	Nodes      []cluster.Node     // in the order of their registration
	Schedulers int                // S; they are called scheduler-1, scheduler-2 ...
	Policy     string             // of the catalogue, or Oracle
	Knobs      scheduler.Settings // in trace time
	Replica    scheduler.Config   // of every scheduler; name and incarnation are set here
	Store      datastore.Config
	Limits     worker.Limits
	Emulation  worker.Emulation
	Reestimate bool // worker.Config's
	Change     Change
	MaxBatch   int           // placements, completions or deltas per message; 1: no coalescing
	NodeGrace  time.Duration // how long a worker may be out of reach before its tasks go elsewhere
	Heartbeat  time.Duration // of the workers
	Patience   time.Duration // of the client with a cluster without schedulers; 0: its own default

	Network      Network
	Interference float64 // tasks on a fully reserved node take 1 + Interference times as long
	Skew         float64 // share of the submissions that goes to the first scheduler; 0: in turn
	Quirks       []string
	Faults       []Fault
	Clients      []Client               // none: one, called generator, submits everything
	Fate         func(task string) Fate // of a task; nil: what the workload says, and it ends well
	Witness      Witness                // nil: nobody looks

	SampleEvery time.Duration // between two looks at the nodes; 0: none

	// Row takes the row of every task as it ends, Sample the state of every node. Either may be nil.
	Row    func(*generator.Row) error
	Sample func(*generator.NodeSample) error
	// Progress is told now and then how many tasks have ended; false ends the run, and every task then has
	// its row all the same. It may be nil.
	Progress func(ended int) bool
}

// Change makes tasks take another time in the middle of a run, which nobody is told.
type Change struct {
	Type   string  // whose tasks; empty: all
	From   float64 // after this share of the workload
	Factor float64 // of what they took before; 0 or 1: nothing changes
}

// Bounds far beyond what makes sense, so that no duration overflows the clock.
const (
	maxInterference = 1000.0
	maxSigma        = 10.0
	maxFactor       = 1000.0
)

func (c *Config) validate() error {
	switch {
	case len(c.Nodes) == 0:
		return fmt.Errorf("the cluster has no workers")
	case c.Schedulers < 1:
		return fmt.Errorf("%d schedulers: at least 1 is needed", c.Schedulers)
	case c.Workload == nil || c.Workload.Len() == 0:
		return fmt.Errorf("there is nothing to replay")
	case c.MaxBatch < 1:
		return fmt.Errorf("%d items per message: at least 1 is needed", c.MaxBatch)
	case !(c.Interference >= 0 && c.Interference <= maxInterference):
		return fmt.Errorf("interference = %v: must be from 0 to %v", c.Interference, maxInterference)
	case !(c.Skew >= 0 && c.Skew <= 1):
		return fmt.Errorf("skew = %v: must be a share, from 0 to 1", c.Skew)
	case !(c.Emulation.Sigma >= 0 && c.Emulation.Sigma <= maxSigma):
		return fmt.Errorf("noise = %v: must be from 0 to %v", c.Emulation.Sigma, maxSigma)
	case c.Heartbeat <= 0:
		return fmt.Errorf("heartbeat = %v: must be positive", c.Heartbeat)
	}
	if err := c.Change.validate(); err != nil {
		return err
	}
	if err := c.Network.validate(); err != nil {
		return err
	}
	for _, q := range c.Quirks {
		if !slices.Contains(Quirks(), q) {
			return fmt.Errorf("no quirk is called %q; known: %v", q, Quirks())
		}
	}
	names := map[string]bool{}
	for i := range c.Nodes {
		if n := &c.Nodes[i]; names[n.Name] {
			return fmt.Errorf("two workers are called %s", n.Name)
		}
		names[c.Nodes[i].Name] = true
	}
	if c.Policy == Oracle && len(c.Faults) > 0 {
		return fmt.Errorf("the oracle knows what was placed, not what will fail: use another policy with faults")
	}
	for i := range c.Faults {
		if err := c.Faults[i].validate(c); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	return c.checkTasks()
}

func (n *Network) validate() error {
	if n.Delay < 0 {
		return fmt.Errorf("network delay = %v: must not be negative", n.Delay)
	}
	for _, s := range []struct {
		name string
		Station
	}{{"scheduler", n.Scheduler}, {"data service", n.Data}, {"worker", n.Worker}} {
		if s.Cost < 0 {
			return fmt.Errorf("cost of a message at a %s = %v: must not be negative", s.name, s.Cost)
		}
		if s.Handlers < 1 {
			return fmt.Errorf("handlers of a %s = %d: at least 1 is needed", s.name, s.Handlers)
		}
	}
	return nil
}

// checkTasks refuses a workload with a task that no node could ever run: it would be refused in the run,
// at a moment when nobody looks.
func (c *Config) checkTasks() error {
	catalog := scheduler.NewCatalog(c.Replica.Types, c.Replica.DefaultDuration)
	classes := map[cluster.ClassID][]cluster.Resources{}
	for i := range c.Nodes {
		id := catalog.Class(c.Nodes[i].Class)
		if n := &c.Nodes[i]; !slices.Contains(classes[id], n.Capacity) {
			classes[id] = append(classes[id], n.Capacity)
		}
	}
	var needs cluster.Kind
	for i := range c.Workload.Len() {
		spec := c.Workload.Task(i)
		if refusal := catalog.Resolve(&spec, &needs); refusal != nil {
			return fmt.Errorf("task %s: %w", spec.ID, *refusal)
		}
		if !fitsSomewhere(&needs, classes) {
			return fmt.Errorf("task %s (type %s) needs more than any node has, or a part of a device beside whole ones", spec.ID, spec.Type)
		}
	}
	return nil
}

func fitsSomewhere(needs *cluster.Kind, classes map[cluster.ClassID][]cluster.Resources) bool {
	for class, capacities := range classes {
		shape, ok := needs.ShapeOn(class)
		for i := range capacities {
			if ok && shape.Demand.FitsEmpty(&capacities[i]) {
				return true
			}
		}
	}
	return false
}
