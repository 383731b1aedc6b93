// Package sim runs a whole cluster in virtual time. It drives the production state machines (scheduler,
// worker and datastore, with every policy) and writes the same rows; what it adds is what their shells
// have from the world: a clock, a network with its delays, handlers that are busy, executions that end,
// machines that fail. No rule of scheduling, queueing or accounting is written here. The same
// configuration gives the same run, byte for byte.
package sim

import (
	"fmt"
	"time"

	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// Simulation is one run in progress.
type Simulation struct {
	kernel
	cfg        Config
	free       [methods + 1]*message // unused, by method
	schedulers []schedulerShell
	workers    []workerShell
	data       dataShell
	generator  *generatorShell
	faults     *faults
	truth      *truth // for the oracle; nil: nobody asks

	nodeIndex      map[string]int32
	schedulerIndex map[string]int32
	streams        int32 // opened so far
	moves          int64 // of tasks: to a scheduler, to a worker, to their end
	over           bool  // time brings nothing new: clocks stand still, nobody tries again

	sent, handledOf, refusedOf [methods]int64
	sentBy                     [methods][]int64 // by scheduler
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
	result := s.generator.count
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
	s := &Simulation{cfg: cfg, nodeIndex: map[string]int32{}, schedulerIndex: map[string]int32{}}
	if cfg.Policy == Oracle {
		s.truth = newTruth(s)
	}
	if err := s.startData(1); err != nil {
		return nil, err
	}
	s.workers = make([]workerShell, len(cfg.Nodes))
	for i := range s.workers {
		s.nodeIndex[cfg.Nodes[i].Name] = int32(i)
		if err := s.startWorker(int32(i), 1); err != nil {
			return nil, err
		}
	}
	s.schedulers = make([]schedulerShell, cfg.Schedulers)
	for i := range s.schedulers {
		s.schedulerIndex[schedulerName(i)] = int32(i)
		if err := s.startScheduler(int32(i), 1); err != nil {
			return nil, err
		}
	}
	for m := range s.sentBy {
		s.sentBy[m] = make([]int64, cfg.Schedulers)
	}
	s.introduce()
	s.generator = newGenerator(s)
	s.faults = newFaults(s)
	return s, nil
}

func schedulerName(i int) string { return fmt.Sprintf("scheduler-%d", i+1) }

// startData starts a process of the data service that knows nothing.
func (s *Simulation) startData(incarnation int64) error {
	cfg := s.cfg.Store
	cfg.Incarnation = incarnation
	store, err := datastore.New(cfg)
	if err != nil {
		return err
	}
	d := &s.data
	d.sim, d.store, d.up = s, store, true
	d.pushers = make([]pusher, s.cfg.Schedulers)
	d.drift = nil
	if len(s.cfg.Quirks) > 0 {
		d.drift = newDrift(s.cfg.Nodes)
	}
	return nil
}

// startWorker starts an empty process of a node.
func (s *Simulation) startWorker(i int32, incarnation int64) error {
	ref := s.cfg.Nodes[i]
	ref.Incarnation = incarnation
	node, err := s.newNode(ref)
	if err != nil {
		return err
	}
	w := &s.workers[i]
	epoch := w.epoch
	*w = workerShell{sim: s, index: i, ref: ref, node: node, check: newLedger(&ref), notices: make([]notifier, s.cfg.Schedulers)}
	w.up, w.epoch = true, epoch
	return nil
}

func (s *Simulation) newNode(ref cluster.Node) (*worker.Node, error) {
	if first := s.workers[0].node; first != nil {
		return first.Sibling(ref)
	}
	return worker.New(worker.Config{Node: ref, Dimensions: s.cfg.Replica.Dimensions, Types: s.cfg.Replica.Types,
		Executors: []worker.Executor{{Name: emulator, Emulates: true}}, Executor: emulator, Limits: s.cfg.Limits})
}

// emulator is the only executor of a simulated node.
const emulator = "simulated"

// startScheduler starts a process of a replica that knows nothing.
func (s *Simulation) startScheduler(i int32, incarnation int64) error {
	policy, err := s.newPolicy()
	if err != nil {
		return err
	}
	cfg := s.cfg.Replica
	cfg.Name, cfg.Incarnation = schedulerName(int(i)), incarnation
	replica, err := scheduler.New(cfg, policy)
	if err != nil {
		return err
	}
	d := &s.schedulers[i]
	epoch := d.epoch
	*d = schedulerShell{sim: s, index: i, replica: replica,
		ref: cluster.SchedulerRef{Name: cfg.Name, Incarnation: incarnation, Riders: cfg.Riders}}
	d.up, d.epoch = true, epoch
	return nil
}

// introduce registers everybody before the run begins: workers, then schedulers, then one push.
func (s *Simulation) introduce() {
	for i := range s.workers {
		must(s.data.store.RegisterNode(0, s.workers[i].ref))
	}
	for i := range s.schedulers {
		s.data.register(int32(i))
	}
	s.data.store.Pushed(0)
	for i := range s.schedulers {
		d := &s.schedulers[i]
		snapshot, _ := s.data.store.SnapshotFor(d.ref.Name, d.ref.Incarnation)
		d.install(&snapshot)
		s.data.store.Acknowledged(d.ref.Name, &snapshot)
	}
}

// must stands where the state machines cannot refuse: registrations before the run.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// progressEvery is how many events pass between two calls of Progress.
const progressEvery = 1 << 15

// run lets time pass until every task has ended. It returns whether Progress ended it.
func (s *Simulation) run() (stopped bool, err error) {
	s.generator.next(0)
	s.startClocks()
	for s.generator.open > 0 {
		if !s.step() {
			return false, fmt.Errorf("nothing is left to happen, and %d tasks have not ended", s.generator.open)
		}
		if s.done%progressEvery == 0 {
			if s.cfg.Progress != nil && !s.cfg.Progress(s.cfg.Workload.Len()-s.generator.open) {
				return true, nil
			}
			if s.generator.err != nil {
				break
			}
		}
	}
	return false, s.generator.err
}

// step lets the next thing happen; false when nothing is left.
func (s *Simulation) step() bool {
	m := s.next()
	if m == nil {
		return false
	}
	switch m.stage {
	case requested:
		s.arrive(m)
	case handled:
		s.finish(m)
	case answered:
		s.settle(m)
	case ended:
		s.workers[m.node].ended(m)
		s.release(m)
	case due:
		s.generator.arrived(m.task)
		s.release(m)
	case beats:
		if !s.over {
			s.workers[m.node].heartbeat(m)
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

// counters are the request messages as the services count them.
func (s *Simulation) counters() generator.Counters {
	c := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: map[string]int64{"in.report": s.sent[report]}}
	for i := range s.schedulers {
		counts := map[string]int64{}
		for m, name := range counterNames {
			if n := s.sentBy[m][i]; n > 0 && name != "" {
				counts[name] = n
			}
		}
		c.Schedulers[schedulerName(i)] = counts
	}
	return c
}

// counterNames are the counters of package rpc, where a scheduler sends or receives the request.
var counterNames = [methods]string{submit: "in.submit", enqueue: "out.enqueue", probe: "out.probe",
	cancel: "out.cancel", complete: "in.complete", push: "in.push", flush: "out.delta"}
