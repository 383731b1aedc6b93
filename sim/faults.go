package sim

import (
	"fmt"
	"time"
)

// faults makes services fail and return.
type faults struct {
	sim         *Simulation
	between     between
	incarnation int64 // of the newest process
	pending     int   // strikes and repairs to come

	stalling, slow int        // services that stall or are slow, counted once per fault
	held           []*message // by those that stall

	moves int64         // of tasks, when somebody looked last
	quiet time.Duration // since when nothing happens
}

func newFaults(s *Simulation) *faults {
	f := &faults{sim: s, between: newBetween(&s.cfg), incarnation: 1}
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
	f.sim.later(at-f.sim.now, func() {
		f.pending--
		if f.sim.rows.open > 0 {
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
	if last := s.cfg.Workload.Len() - 1; f.pending > 0 || running > 0 || s.moves != f.moves || s.now < s.cfg.Workload.Due(last) {
		f.moves, f.quiet = s.moves, s.now
		return
	}
	switch {
	case s.now-f.quiet < s.cfg.Replica.ReplaceTimeout+settling+s.cfg.Network.patience():
	case schedulers == 0: // until the client's patience ends
	case workers == 0:
		s.abandon("no worker is left")
	case !s.data.up:
		s.abandon("without the data service nobody learns who is left")
	default:
		s.rows.err = fmt.Errorf("nothing has happened since %v, and %d tasks have not ended", f.quiet, s.rows.open)
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
	f.between.active = nil
	f.resume()
}
