package sim

import (
	"slices"

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// startData starts a process of the data service that knows nothing.
func (s *Simulation) startData(incarnation int64) error {
	cfg := s.cfg.Store
	cfg.Incarnation = incarnation
	store, err := datastore.New(cfg)
	if err != nil {
		return err
	}
	d := &s.data
	d.sim, d.store = s, store
	s.begin(&d.service)
	d.drift = nil
	if slices.Contains(s.cfg.Quirks, DurationDrift) {
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
	*w = workerShell{service: w.service, sim: s, index: i, ref: ref, node: node, check: newLedger(&ref),
		notifiers: make([]worker.Notifier, s.cfg.Schedulers), reporter: worker.NewReporter(s.cfg.Heartbeat)}
	for j := range w.notifiers {
		w.notifiers[j] = worker.NewNotifier(node, s.schedulers[j].ref.Name, s.cfg.MaxBatch)
	}
	s.begin(&w.service)
	return nil
}

func (s *Simulation) newNode(ref cluster.Node) (*worker.Node, error) {
	if first := s.workers[0].node; first != nil {
		return first.Sibling(ref)
	}
	return worker.New(worker.Config{Node: ref, Dimensions: s.cfg.Replica.Dimensions, Types: s.cfg.Replica.Types,
		Executors: []worker.Executor{{Name: emulator, Emulates: true}}, Executor: emulator, Limits: s.cfg.Limits,
		Reestimate: s.cfg.Reestimate})
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
	cfg.Name, cfg.Incarnation = cluster.SchedulerName(int(i)), incarnation
	d := &s.schedulers[i]
	replica, err := d.newReplica(s.now, cfg, policy)
	if err != nil {
		return err
	}
	ref := cluster.SchedulerRef{Name: cfg.Name, Incarnation: incarnation, Riders: replica.Riders(), Resumes: cfg.Keeps}
	*d = schedulerShell{service: d.service, sim: s, index: i, replica: replica, ref: ref, disk: d.disk,
		deliveries: scheduler.Deliveries{Replica: replica, Scheduler: ref, MaxBatch: s.cfg.MaxBatch, Grace: s.cfg.NodeGrace},
		flusher:    scheduler.Flusher{Replica: replica, MaxBatch: s.cfg.MaxBatch}}
	d.registrar.Flusher = &d.flusher
	s.begin(&d.service)
	d.introduceItself()
	return nil
}
