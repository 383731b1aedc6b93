package sim

import (
	"fmt"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// What a Fault can hit.
const (
	FaultWorker    = "worker"
	FaultClass     = "class"
	FaultScheduler = "scheduler"
	FaultDatastore = "datastore"
)

// Fault is something that goes wrong at a given time and, where Until is not zero, is over then.
type Fault struct {
	What  string
	Name  string // of the worker, class or scheduler
	How   string
	Delay time.Duration // of Slow
	At    time.Duration
	Until time.Duration
}

// How something goes wrong.
const (
	Dies    = ""        // without notice; it returns as a new process that knows nothing
	Stalls  = "stalls"  // what it sends and what is sent to it waits
	Refuses = "refuses" // connections to it, and those that were there break
	Deaf    = "deaf"    // requests to it are lost, with their connections
	Mute    = "mute"    // its answers are
	Slow    = "slow"    // what it sends and what is sent to it takes longer, one way
)

func (f *Fault) validate(c *Config) error {
	if f.At < 0 {
		return fmt.Errorf("at = %v: nothing can happen before the start", f.At)
	}
	if f.Until != 0 && f.Until <= f.At {
		return fmt.Errorf("until = %v: must be after at = %v, or 0 for never", f.Until, f.At)
	}
	if !slices.Contains([]string{Dies, Stalls, Refuses, Deaf, Mute, Slow}, f.How) {
		return fmt.Errorf("how = %q: must be %s, %s, %s, %s or %s, or nothing: it dies", f.How, Stalls, Refuses, Deaf, Mute, Slow)
	}
	if f.Delay < 0 || f.Delay > 0 && f.How != Slow {
		return fmt.Errorf("delay = %v: must be positive, of what is %s", f.Delay, Slow)
	}
	known := false
	switch f.What {
	case FaultDatastore:
		known = f.Name == ""
	case FaultScheduler:
		for i := range c.Schedulers {
			known = known || cluster.SchedulerName(i) == f.Name
		}
	case FaultWorker, FaultClass:
		for i := range c.Nodes {
			known = known || f.hits(c.Nodes[i].Name, c.Nodes[i].Class)
		}
	default:
		return fmt.Errorf("what = %q: must be %s, %s, %s or %s", f.What, FaultWorker, FaultClass, FaultScheduler, FaultDatastore)
	}
	if !known {
		return fmt.Errorf("there is no %s called %q", f.What, f.Name)
	}
	return nil
}

// hits reports whether a fault is about the worker.
func (f *Fault) hits(worker, class string) bool {
	return f.What == FaultWorker && f.Name == worker || f.What == FaultClass && f.Name == class
}

// faults makes services fail and return.
type faults struct {
	sim         *Simulation
	incarnation int64 // of the newest process
	pending     int   // strikes and repairs to come

	stalling, slow int        // services that stall or are slow, counted once per fault
	held           []*message // by those that stall

	moves int64         // of tasks, when somebody looked last
	quiet time.Duration // since when nothing happens
}

func newFaults(s *Simulation) *faults {
	f := &faults{sim: s, incarnation: 1}
	for i := range s.cfg.Faults {
		fault := &s.cfg.Faults[i]
		f.plan(fault.At, fault, f.strike)
		if fault.Until > 0 {
			f.plan(fault.Until, fault, f.repair)
		}
	}
	return f
}

// plan lets something happen to what a fault is about, unless the run is over by then.
func (f *faults) plan(at time.Duration, fault *Fault, happen func(*Fault)) {
	f.pending++
	f.sim.later(at, func() {
		f.pending--
		if f.sim.generator.open > 0 {
			happen(fault)
		}
	})
}

// watchEvery is how often somebody looks whether the run still gets anywhere.
const watchEvery = 10 * time.Second

// watch ends what nobody can place or run any more: when every task has arrived, none runs, nobody
// returns, and the time is over that a replica waits for a node.
func (f *faults) watch() {
	s := f.sim
	schedulers, workers, running := 0, 0, 0
	for i := range s.schedulers {
		if s.schedulers[i].up {
			schedulers++
		}
	}
	for i := range s.workers {
		if w := &s.workers[i]; w.up {
			workers++
			running += w.check.running
		}
	}
	g := s.generator
	if last := s.cfg.Workload.Len() - 1; f.pending > 0 || running > 0 || s.moves != f.moves || s.now < s.cfg.Workload.Due(last) {
		f.moves, f.quiet = s.moves, s.now
		return
	}
	switch {
	case s.now-f.quiet < s.cfg.Replica.ReplaceTimeout+settling+s.cfg.Network.patience():
	case schedulers == 0: // until the client's patience ends
	case workers == 0:
		g.abandon("no worker is left")
	case !s.data.up:
		g.abandon("without the data service nobody learns who is left")
	default:
		g.err = fmt.Errorf("nothing has happened since %v, and %d tasks have not ended", f.quiet, g.open)
	}
}

// subject is a service that something goes wrong with.
type subject struct {
	*service
	broke func()                  // the connections to it did
	start func(incarnation int64) // a new process
}

// subjects returns what a fault is about.
func (f *faults) subjects(fault *Fault) (all []subject) {
	s := f.sim
	switch fault.What {
	case FaultDatastore:
		return []subject{{&s.data.service, func() {}, func(incarnation int64) {
			must(s.startData(incarnation))
			s.data.startClock()
		}}}
	case FaultScheduler:
		i := s.schedulerIndex[fault.Name]
		return []subject{{&s.schedulers[i].service, func() { s.generator.cut(i, generator.Unanswered) }, func(incarnation int64) {
			must(s.startScheduler(i, incarnation))
			s.schedulers[i].startClock(scheduler.TickEvery)
			s.schedulers[i].register()
		}}}
	}
	for i := range s.workers {
		w := &s.workers[i]
		if fault.hits(w.ref.Name, w.ref.Class) {
			all = append(all, subject{&w.service, func() {}, func(incarnation int64) {
				problem := w.check.problem
				must(s.startWorker(w.index, incarnation))
				w.check.problem = problem
				w.report()
			}})
		}
	}
	return all
}

// strike begins a fault.
func (f *faults) strike(fault *Fault) {
	for _, at := range f.subjects(fault) {
		if fault.How != Dies {
			f.change(at.service, fault, 1)
		} else if at.outages++; at.up {
			f.sim.die(at.service)
			at.broke()
		}
		if fault.How == Refuses {
			at.cuts++
			at.broke()
		}
	}
}

// repair ends one fault; others may still keep a process away.
func (f *faults) repair(fault *Fault) {
	f.incarnation++
	for _, at := range f.subjects(fault) {
		if fault.How != Dies {
			f.change(at.service, fault, -1)
		} else if at.outages--; at.outages == 0 {
			at.start(f.incarnation)
		}
	}
	if fault.How == Stalls {
		f.resume()
	}
}

// change begins a trouble (1), or ends it (-1).
func (f *faults) change(at *service, fault *Fault, by int) {
	at.trouble.change(fault, by)
	switch fault.How {
	case Stalls:
		f.stalling += by
	case Slow:
		f.slow += by
	}
}

// calm ends every trouble; the dead stay dead.
func (f *faults) calm() {
	s := f.sim
	s.data.trouble = trouble{}
	for i := range s.schedulers {
		s.schedulers[i].trouble = trouble{}
	}
	for i := range s.workers {
		s.workers[i].trouble = trouble{}
	}
	f.stalling, f.slow = 0, 0
	f.resume()
}
