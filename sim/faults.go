package sim

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// Fault is something that goes away at a given time and, where Until is not zero, returns then: as a new
// process that knows nothing.
type Fault struct {
	What  string // worker, class, scheduler or datastore
	Name  string // of the worker, class or scheduler
	At    time.Duration
	Until time.Duration
}

func (f *Fault) validate(c *Config) error {
	if f.At < 0 {
		return fmt.Errorf("at = %v: nothing can happen before the start", f.At)
	}
	if f.Until != 0 && f.Until <= f.At {
		return fmt.Errorf("until = %v: must be after at = %v, or 0 for never", f.Until, f.At)
	}
	known := false
	switch f.What {
	case "datastore":
		known = f.Name == ""
	case "scheduler":
		for i := range c.Schedulers {
			known = known || schedulerName(i) == f.Name
		}
	case "worker", "class":
		for i := range c.Nodes {
			known = known || f.What == "worker" && c.Nodes[i].Name == f.Name || f.What == "class" && c.Nodes[i].Class == f.Name
		}
	default:
		return fmt.Errorf("what = %q: must be worker, class, scheduler or datastore", f.What)
	}
	if !known {
		return fmt.Errorf("there is no %s called %q", f.What, f.Name)
	}
	return nil
}

// faults makes machines fail and return, and carries the registrations that follow: those of a newcomer,
// and everybody's with a data service that has forgotten them.
type faults struct {
	sim         *Simulation
	incarnation int64 // of the newest process
	pending     int   // strikes and repairs to come

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
	if last := len(g.tasks) - 1; f.pending > 0 || running > 0 || s.moves != f.moves || s.now < s.cfg.Workload.Due(last) {
		f.moves, f.quiet = s.moves, s.now
		return
	}
	switch {
	case s.now-f.quiet < s.cfg.Replica.ReplaceTimeout+settling+s.cfg.Network.patience():
	case schedulers == 0:
		g.abandon("no scheduler is left")
	case workers == 0:
		g.abandon("no worker is left")
	case !s.data.up:
		g.abandon("without the data service nobody learns who is left")
	default:
		g.err = fmt.Errorf("nothing has happened since %v, and %d tasks have not ended", f.quiet, g.open)
	}
}

// concerned calls do with every worker that a fault is about.
func (f *faults) concerned(fault *Fault, do func(w *workerShell)) {
	for i := range f.sim.workers {
		w := &f.sim.workers[i]
		if fault.What == "worker" && w.ref.Name == fault.Name || fault.What == "class" && w.ref.Class == fault.Name {
			do(w)
		}
	}
}

// falls takes a service away; false when another fault has done so already.
func (f *faults) falls(at *service) bool {
	at.outages++
	if !at.up {
		return false
	}
	f.sim.die(at)
	return true
}

// returns ends one fault of a service; true when no other one keeps it away.
func (f *faults) returns(at *service) bool {
	at.outages--
	return at.outages == 0
}

func (f *faults) strike(fault *Fault) {
	s := f.sim
	switch fault.What {
	case "datastore":
		f.falls(&s.data.service)
	case "scheduler":
		i := s.schedulerIndex[fault.Name]
		if f.falls(&s.schedulers[i].service) {
			s.later(noticeDeath, func() {
				if !s.schedulers[i].up {
					s.generator.lost(i)
				}
			})
		}
	default:
		f.concerned(fault, func(w *workerShell) {
			if f.falls(&w.service) {
				w.check.running, w.check.reserved, w.check.line, w.check.head = 0, cluster.Resources{}, nil, 0
			}
		})
	}
}

func (f *faults) repair(fault *Fault) {
	s := f.sim
	f.incarnation++
	switch fault.What {
	case "datastore":
		if f.returns(&s.data.service) {
			must(s.startData(f.incarnation))
		}
	case "scheduler":
		i := s.schedulerIndex[fault.Name]
		if f.returns(&s.schedulers[i].service) {
			must(s.startScheduler(i, f.incarnation))
			f.registerScheduler(&s.schedulers[i])
			s.generator.lost(i) // whatever the old process had is submitted again
			s.generator.found(i)
		}
	default:
		f.concerned(fault, func(w *workerShell) {
			if f.returns(&w.service) {
				problem := w.check.problem
				must(s.startWorker(w.index, f.incarnation))
				w.check.problem = problem
				f.registerWorker(w)
			}
		})
	}
}

// registerEvery is the pause between attempts while the data service is away.
const registerEvery = 100 * time.Millisecond

// registerWorker introduces a worker to the data service, however often that takes.
func (f *faults) registerWorker(w *workerShell) {
	s, epoch := f.sim, w.epoch
	s.later(2*s.cfg.Network.Delay, func() {
		switch {
		case !w.up || w.epoch != epoch:
		case !s.data.up:
			s.later(registerEvery, func() { f.registerWorker(w) })
		case s.data.store.RegisterNode(s.now, w.ref) != nil:
			s.later(registerEvery, func() { f.registerWorker(w) }) // the old process counts as alive
		default:
			w.reporting = false
			w.report()
		}
	})
}

// registerScheduler introduces a replica to the data service and gives it the whole snapshot.
func (f *faults) registerScheduler(d *schedulerShell) {
	s, epoch := f.sim, d.epoch
	s.later(2*s.cfg.Network.Delay, func() {
		switch {
		case !d.up || d.epoch != epoch:
		case !s.data.up:
			s.later(registerEvery, func() { f.registerScheduler(d) })
		default:
			d.registering = false
			s.data.register(d.index)
		}
	})
}

// checkSchedulers makes every replica look whether the data service still knows it: one that does not
// flush would never find out.
func (f *faults) checkSchedulers() {
	s := f.sim
	for i := range s.schedulers {
		if d := &s.schedulers[i]; d.up && s.data.up && s.data.store.CheckScheduler(d.ref.Name, d.ref.Incarnation) != nil {
			f.schedulerLost(d)
		}
	}
}

// schedulerLost makes a replica register again: the data service did not take its flush.
func (f *faults) schedulerLost(d *schedulerShell) {
	if !d.registering {
		d.registering = true
		f.registerScheduler(d)
	}
}

// workerLost makes a worker register again: the data service did not know it.
func (f *faults) workerLost(w *workerShell) { f.registerWorker(w) }
