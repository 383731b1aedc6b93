package sim

import (
	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// dataShell moves the data service's messages, as datastored does over Thrift.
type dataShell struct {
	service
	sim   *Simulation
	store *datastore.Store
	drift *drift // the prototype's fault; nil: off
}

// flushed is the handler of a delta.
func (d *dataShell) flushed(m *message) {
	actions, err := d.store.Flush(d.now(), m.delta)
	m.code = cluster.CodeOf(err)
	if err == nil && d.drift != nil {
		d.drift.flushed(m.delta)
	}
	d.perform(actions)
}

// reported is the handler of a worker's report.
func (d *dataShell) reported(m *message) {
	err := d.store.Report(d.now(), &m.report)
	m.code = cluster.CodeOf(err)
	if err == nil && d.drift != nil && !m.idle {
		d.drift.reported(&m.report)
	}
}

// nodeCame is the handler of a worker's registration.
func (d *dataShell) nodeCame(m *message) {
	m.code = cluster.CodeOf(d.store.RegisterNode(d.now(), m.newcomer))
}

// schedulerCame is the handler of a replica's registration.
func (d *dataShell) schedulerCame(m *message) {
	snapshot, err := d.register(m.enqueue.Scheduler)
	m.snapshot, m.code = snapshot, cluster.CodeOf(err)
}

// checked is the handler of a replica's question whether it is still registered.
func (d *dataShell) checked(m *message) {
	ref := &m.enqueue.Scheduler
	m.code = cluster.CodeOf(d.store.CheckScheduler(d.now(), ref.Name, ref.Incarnation))
}

// register admits a replica, which gets the whole snapshot in return.
func (d *dataShell) register(ref cluster.SchedulerRef) (cluster.Snapshot, error) {
	snapshot, err := d.store.RegisterScheduler(ref)
	if err == nil && d.drift != nil {
		d.drift.distort(&snapshot)
	}
	return snapshot, err
}

// perform sends the pushes that are due.
func (d *dataShell) perform(actions datastore.Actions) {
	for _, p := range actions.Push {
		m := d.sim.take(push)
		m.push, m.sched, m.origin = p, d.sim.schedulerIndex[p.To.Name], d.epoch
		if d.drift != nil {
			d.store.Forget(p) // what a flush distorts is all nodes
		}
		d.store.Fill(&m.snapshot, p)
		if d.drift != nil {
			d.drift.distort(&m.snapshot)
		}
		d.sim.send(m)
	}
}

// pushAnswered takes a scheduler's answer to a push, or its silence.
func (d *dataShell) pushAnswered(m *message) {
	switch {
	case !d.up || d.epoch != m.origin:
	case m.failed:
		d.perform(d.store.Failed(d.now(), m.push, m.unsent))
	default:
		d.perform(d.store.Answered(d.now(), m.push, m.code))
	}
}

// startClock lets time pass for this process.
func (d *dataShell) startClock() {
	d.sim.everyWhileUp(&d.service, datastore.TickEvery, func() { d.perform(d.store.Tick(d.now())) })
}
