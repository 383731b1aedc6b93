package sim

import (
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// What a Fault can hit.
const (
	FaultWorker    = "worker"
	FaultClass     = "class"
	FaultScheduler = "scheduler"
	FaultDatastore = "datastore"
	FaultNetwork   = "network" // what is between Between and And
)

// Fault is something that goes wrong at a given time and, where Until is not zero, is over then.
type Fault struct {
	What  string        `json:"what"`
	Name  string        `json:"name,omitempty"` // of the worker, class or scheduler
	How   string        `json:"how,omitempty"`
	Delay time.Duration `json:"delay,omitempty"` // of Slow
	At    time.Duration `json:"at"`
	Until time.Duration `json:"until,omitempty"`

	Between []string      `json:"between,omitempty"` // of the network: services by their names, FaultDatastore, or FaultClients
	And     []string      `json:"and,omitempty"`     // the other side
	OneWay  bool          `json:"one_way,omitempty"` // of Parts: what Between sends is lost, and what And sends arrives
	Share   float64       `json:"share,omitempty"`   // of Drops and Duplicates: of the messages, above 0 to 1
	Step    time.Duration `json:"step,omitempty"`    // of Clock: how far its host's clock is moved, back where negative
}

// FaultClients are all clients, as a side of a fault of the network.
const FaultClients = "clients"

// How something goes wrong.
const (
	Dies    = ""        // without notice; it returns as a new process
	Stalls  = "stalls"  // what it sends and what is sent to it waits
	Refuses = "refuses" // connections to it, and those that were there break
	Deaf    = "deaf"    // requests to it are lost, with their connections
	Mute    = "mute"    // its answers are
	Slow    = "slow"    // what it sends and what is sent to it takes longer, one way

	Restarts = "restarts" // it is asked to end, and returns
	Upgrades = "upgrades" // the same, and what returns is another build
	Clock    = "clock"    // it dies, and returns on a host whose clock was moved
	Full     = "full"     // a scheduler's journal has no room

	Parts      = "parts"      // nothing gets from one side of the network to the other
	Drops      = "drops"      // a share of the messages between two sides is lost, with their connections
	Duplicates = "duplicates" // a share of the requests between two sides arrives twice
)

// hows are the ways in which what a fault hits can go wrong.
var hows = map[string][]string{
	FaultWorker:    {Dies, Stalls, Refuses, Deaf, Mute, Slow, Restarts, Upgrades, Clock},
	FaultClass:     {Dies, Stalls, Refuses, Deaf, Mute, Slow, Restarts, Upgrades, Clock},
	FaultScheduler: {Dies, Stalls, Refuses, Deaf, Mute, Slow, Restarts, Upgrades, Clock, Full},
	FaultDatastore: {Dies, Stalls, Refuses, Deaf, Mute, Slow, Restarts, Upgrades, Clock},
	FaultNetwork:   {Parts, Drops, Duplicates},
}

func (f *Fault) validate(c *Config) error {
	if f.At < 0 {
		return fmt.Errorf("at = %v: nothing can happen before the start", f.At)
	}
	if f.Until != 0 && f.Until <= f.At {
		return fmt.Errorf("until = %v: must be after at = %v, or 0 for never", f.Until, f.At)
	}
	known, ok := hows[f.What]
	if !ok {
		return fmt.Errorf("what = %q: must be %s, %s, %s, %s or %s", f.What, FaultWorker, FaultClass, FaultScheduler, FaultDatastore,
			FaultNetwork)
	}
	if !slices.Contains(known, f.How) {
		return fmt.Errorf("how = %q: of a %s it must be one of %q", f.How, f.What, known)
	}
	if f.Delay < 0 || f.Delay > 0 && f.How != Slow {
		return fmt.Errorf("delay = %v: must be positive, of what is %s", f.Delay, Slow)
	}
	if shares := f.How == Drops || f.How == Duplicates; shares != (f.Share != 0) || !(f.Share >= 0 && f.Share <= 1) {
		return fmt.Errorf("share = %v: must be above 0 to 1, of what %s or %s", f.Share, Drops, Duplicates)
	}
	if f.Step != 0 && f.How != Clock || f.OneWay && f.How != Parts {
		return fmt.Errorf("step = %v, one way = %v: only a %s has a step, and only what %s is one way", f.Step, f.OneWay, Clock, Parts)
	}
	return f.findNames(c)
}

// findNames looks up what the fault hits.
func (f *Fault) findNames(c *Config) error {
	if network := f.What == FaultNetwork; network != (len(f.Between) > 0) || network != (len(f.And) > 0) {
		return fmt.Errorf("between = %q, and = %q: a fault of the %s, and no other, has two sides", f.Between, f.And, FaultNetwork)
	}
	known := f.What == FaultNetwork || f.What == FaultDatastore
	if known && f.Name != "" {
		return fmt.Errorf("there is no %s called %q", f.What, f.Name)
	}
	for i := range c.Schedulers {
		known = known || f.What == FaultScheduler && cluster.SchedulerName(i) == f.Name
	}
	for i := range c.Nodes {
		known = known || f.hits(c.Nodes[i].Name, c.Nodes[i].Class)
	}
	if !known {
		return fmt.Errorf("there is no %s called %q", f.What, f.Name)
	}
	for _, name := range slices.Concat(f.Between, f.And) {
		if !c.hasService(name) {
			return fmt.Errorf("there is no service called %q", name)
		}
	}
	return nil
}

// hasService reports whether a side of a network fault may have this name in it.
func (c *Config) hasService(name string) bool {
	if name == FaultDatastore || name == FaultClients {
		return true
	}
	for i := range c.Schedulers {
		if cluster.SchedulerName(i) == name {
			return true
		}
	}
	return slices.ContainsFunc(c.Nodes, func(n cluster.Node) bool { return n.Name == name })
}

// hits reports whether a fault is about the worker.
func (f *Fault) hits(worker, class string) bool {
	return f.What == FaultWorker && f.Name == worker || f.What == FaultClass && f.Name == class
}
