// Package sim runs a whole cluster in virtual time. It drives the production state machines (scheduler,
// worker and datastore, with every policy) and writes the same rows; what it adds is what their shells
// have from the world: a clock, a network with its delays, handlers that are busy, executions that end,
// machines that fail. No rule of scheduling, queueing or accounting is written here. The same
// configuration gives the same run, byte for byte.
package sim

import (
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Simulation is one run in progress.
type Simulation struct {
	kernel
	cfg        Config
	free       [methods + 1]*message // unused, by method
	schedulers []schedulerShell
	workers    []workerShell
	data       dataShell
	clients    []*generatorShell
	rows       tally
	faults     *faults
	truth      *truth // for the oracle; nil: nobody asks
	changed    map[uint64]bool

	nodeIndex      map[string]int32
	schedulerIndex map[string]int32
	streams        int32 // opened so far
	moves          int64 // of tasks: to a scheduler, to a worker, to their end
	over           bool  // time brings nothing new: clocks stand still, nobody tries again

	sent, handledOf, refusedOf [methods]int64
	counted                    [methods]int64   // by the services
	sentBy                     [methods][]int64 // counted, by scheduler
}

// Run simulates cfg. It fails when the configuration is impossible, and when the run breaks an invariant:
// that is a fault of this program.
func Run(cfg Config) (Result, error) {
	if err := cfg.validate(); err != nil {
		return Result{}, fmt.Errorf("simulation: %w", err)
	}
	s, err := newSimulation(cfg)
	if err != nil {
		return Result{}, fmt.Errorf("simulation: %w", err)
	}
	stopped, err := s.run()
	result := s.rows.count
	result.Stopped, result.Elapsed, result.Events, result.Counters = stopped, s.now, s.done, s.counters()
	for _, n := range s.sent {
		result.Messages += n
	}
	if err == nil && !stopped {
		err = s.audit()
	}
	if err != nil {
		err = fmt.Errorf("simulation: at %v: %w", s.now, err)
	}
	return result, err
}

func newSimulation(cfg Config) (*Simulation, error) {
	s := &Simulation{cfg: cfg, nodeIndex: map[string]int32{}, schedulerIndex: map[string]int32{}, changed: cfg.changed()}
	s.cfg.Replica.Foresee = s.foresees(cfg.Replica.Foresee)
	if cfg.Policy == Oracle {
		s.truth = newTruth(s)
	}
	if err := s.startData(1); err != nil {
		return nil, err
	}
	s.schedulers = make([]schedulerShell, cfg.Schedulers)
	for i := range s.schedulers {
		s.schedulers[i].ref.Name = cluster.SchedulerName(i)
		s.schedulerIndex[s.schedulers[i].ref.Name] = int32(i)
	}
	s.workers = make([]workerShell, len(cfg.Nodes))
	for i := range s.workers {
		s.nodeIndex[cfg.Nodes[i].Name] = int32(i)
		if err := s.startWorker(int32(i), 1); err != nil {
			return nil, err
		}
	}
	for i := range s.schedulers {
		if err := s.startScheduler(int32(i), 1); err != nil {
			return nil, err
		}
	}
	for m := range s.sentBy {
		s.sentBy[m] = make([]int64, cfg.Schedulers)
	}
	s.introduce()
	s.newClients()
	s.faults = newFaults(s)
	return s, nil
}

// introduce registers everybody before the run begins: workers, then schedulers, then one push.
func (s *Simulation) introduce() {
	for i := range s.workers {
		w := &s.workers[i]
		w.reporter.Next(0) // a registration
		must(s.data.store.RegisterNode(0, w.ref))
		w.reporter.Answered(0, 0)
		w.reporter.Next(0) // a report, which would say nothing: it counts as answered when the clocks start
	}
	for i := range s.schedulers {
		d := &s.schedulers[i]
		snapshot, err := s.data.register(d.ref)
		must(err)
		d.install(snapshot, process(s.data.epoch))
	}
	actions, _ := s.data.store.Settle(0)
	for _, p := range slices.Clone(actions.Push) {
		var snapshot cluster.Snapshot
		s.data.store.Fill(&snapshot, p)
		s.schedulers[s.schedulerIndex[p.To.Name]].take(&snapshot)
		s.data.store.Answered(0, p, 0)
	}
}

// must stands where the state machines cannot refuse: registrations.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// progressEvery is how many events pass between two calls of Progress.
const progressEvery = 1 << 15

// run lets time pass until every task has ended. It returns whether Progress ended it.
func (s *Simulation) run() (stopped bool, err error) {
	for _, g := range s.clients {
		g.start()
	}
	s.startClocks()
	for s.rows.open > 0 {
		if !s.step() {
			return false, fmt.Errorf("nothing is left to happen, and %d tasks have not ended", s.rows.open)
		}
		if s.done%progressEvery == 0 {
			if s.cfg.Progress != nil && !s.cfg.Progress(s.cfg.Workload.Len()-s.rows.open) {
				s.stop()
				return true, s.rows.err
			}
			if s.rows.err != nil {
				break
			}
		}
	}
	return false, s.rows.err
}

// step lets the next thing happen; false when nothing is left.
func (s *Simulation) step() bool {
	m := s.next()
	if m == nil {
		return false
	}
	switch m.stage {
	case requested:
		if !s.faults.hold(m) && !s.faults.loses(m) {
			s.arrive(m)
		}
	case handled:
		s.finish(m)
	case answered:
		if !s.faults.hold(m) && !s.faults.loses(m) {
			s.settle(m)
		}
	case ended:
		s.workers[m.node].ended(m)
		s.release(m)
	case due:
		s.clients[m.client].arrived(m.task)
		s.release(m)
	case beats:
		if !s.over {
			s.workers[m.node].heartbeat(m)
		}
		s.release(m)
	case overran:
		if !s.over {
			s.workers[m.node].overran(m)
		}
		s.release(m)
	case timed:
		if !s.over {
			m.do()
		}
		s.release(m)
	}
	return true
}

// later calls do in d from now.
func (s *Simulation) later(d time.Duration, do func()) {
	m := s.take(noRequest)
	m.stage, m.do = timed, do
	s.onHeap(d, m)
}

// every calls do again and again while the run goes on.
func (s *Simulation) every(d time.Duration, do func()) {
	m := s.take(noRequest)
	m.stage = timed
	m.do = func() {
		do()
		s.every(d, do)
	}
	s.after(d, timerLane, m)
}

// everyWhileUp is every, as long as the process of a service lives.
func (s *Simulation) everyWhileUp(at *service, d time.Duration, do func()) {
	m, epoch := s.take(noRequest), at.epoch
	m.stage = timed
	m.do = func() {
		if at.up && at.epoch == epoch {
			do()
			s.everyWhileUp(at, d, do)
		}
	}
	s.after(d, timerLane, m)
}
