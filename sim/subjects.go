package sim

import (
	"time"

	"dodoor/generator"
	"dodoor/scheduler"
)

// subject is a service that something goes wrong with.
type subject struct {
	*service
	broke func()                  // the connections to it did
	died  func()                  // its process did
	leave func(last bool)         // it is asked to end, and at last has to
	start func(incarnation int64) // a new process
}

// subjects returns what a fault is about.
func (f *faults) subjects(fault *Fault) (all []subject) {
	switch fault.What {
	case FaultDatastore:
		return []subject{f.data()}
	case FaultScheduler:
		return []subject{f.scheduler(f.sim.schedulerIndex[fault.Name])}
	}
	for i := range f.sim.workers {
		if w := &f.sim.workers[i]; fault.hits(w.ref.Name, w.ref.Class) {
			all = append(all, f.worker(w))
		}
	}
	return all
}

func (f *faults) data() subject {
	s := f.sim
	return subject{&s.data.service, func() {}, func() {}, func(bool) {}, func(incarnation int64) {
		must(s.startData(incarnation))
		s.data.startClock()
	}}
}

func (f *faults) scheduler(i int32) subject {
	s := f.sim
	d := &s.schedulers[i]
	return subject{&d.service, func() { s.cut(i, generator.Unanswered) }, d.forsake, func(last bool) {
		if d.replica.Draining(); !last {
			d.perform(d.replica.Settle(d.now()))
		}
	}, func(incarnation int64) {
		must(s.startScheduler(i, incarnation))
		d.startClock(scheduler.TickEvery)
		d.register()
	}}
}

func (f *faults) worker(w *workerShell) subject {
	s := f.sim
	return subject{&w.service, func() {}, w.witnessDeath, w.leave, func(incarnation int64) {
		problem := w.check.problem
		must(s.startWorker(w.index, incarnation))
		w.check.problem = problem
		w.report()
	}}
}

// strike begins a fault.
func (f *faults) strike(fault *Fault) {
	for _, at := range f.subjects(fault) {
		switch fault.How {
		case Dies, Clock:
			f.kill(at)
		case Restarts, Upgrades:
			f.leave(at, fault)
		case Refuses:
			f.change(at.service, fault, 1)
			at.cuts++
			at.broke()
		case Full:
			f.sim.schedulers[f.sim.schedulerIndex[fault.Name]].disk.full++
		default:
			f.change(at.service, fault, 1)
		}
	}
	if fault.What == FaultNetwork {
		f.between.change(fault, 1)
	}
}

// kill ends a service's process, if it has one, and keeps it away.
func (f *faults) kill(at subject) {
	if at.outages++; at.up {
		f.sim.die(at.service)
		at.died()
		at.broke()
	}
}

// revive ends one reason to stay away; others may still keep a process away.
func (f *faults) revive(at subject) {
	if at.outages--; at.outages == 0 {
		at.start(f.incarnation)
	}
}

// drainFor is how long a process that is asked to end gets for it, and half of it to give up what takes longer.
const drainFor = time.Second

// leave asks a process to end.
func (f *faults) leave(at subject, fault *Fault) {
	limit := drainFor
	if fault.Until > 0 {
		limit = min(limit, (fault.Until-fault.At)/2)
	}
	asked := at.epoch
	if at.up {
		at.leave(false)
	}
	f.plan(fault.At+limit/2, fault, func(*Fault) {
		if at.up && at.epoch == asked {
			at.leave(true)
		}
	})
	f.plan(fault.At+limit, fault, func(*Fault) { f.kill(at) })
}

// repair ends one fault.
func (f *faults) repair(fault *Fault) {
	f.incarnation++
	for _, at := range f.subjects(fault) {
		switch fault.How {
		case Clock:
			at.offset += fault.Step
			f.revive(at)
		case Dies, Restarts, Upgrades:
			f.revive(at)
		case Full:
			f.makeRoom(at, &f.sim.schedulers[f.sim.schedulerIndex[fault.Name]].disk)
		default:
			f.change(at.service, fault, -1)
		}
	}
	switch {
	case fault.How == Stalls:
		f.resume()
	case fault.What == FaultNetwork:
		f.between.change(fault, -1)
	}
}

// makeRoom ends one reason why a disk is full, and starts the process again that ended because of it.
func (f *faults) makeRoom(at subject, full *disk) {
	if full.full--; full.full == 0 && full.stopped {
		full.stopped = false
		f.revive(at)
	}
}
