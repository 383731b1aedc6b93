package sim

import (
	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// dataShell carries out what the data service wants done, as datastored does: one push under way to
// every scheduler.
type dataShell struct {
	service
	sim     *Simulation
	store   *datastore.Store
	pushers []pusher // by scheduler
	drift   *drift   // the prototype's fault; nil: off
}

// pusher sends snapshots to one scheduler, one at a time.
type pusher struct {
	incarnation int64 // that registered
	busy        bool
	due         int // pushes that wait
}

// backlog is how many pushes may wait for a scheduler that is still busy with one. A push always
// carries the newest state, so a longer backlog would repeat itself.
const backlog = 4

// flushed is the handler of a delta.
func (d *dataShell) flushed(m *message) {
	step, err := d.store.Flush(m.delta)
	m.code = cluster.CodeOf(err)
	if err == nil && d.drift != nil {
		d.drift.flushed(m.delta)
	}
	d.carryOut(step)
}

// reported is the handler of a worker's report.
func (d *dataShell) reported(m *message) {
	err := d.store.Report(d.sim.now, &m.report)
	m.code = cluster.CodeOf(err)
	if err == nil && d.drift != nil && !m.idle {
		d.drift.reported(&m.report)
	}
}

// register admits a replica, which gets the whole snapshot in return.
func (d *dataShell) register(sched int32) {
	r := &d.sim.schedulers[sched]
	snapshot, err := d.store.RegisterScheduler(r.ref)
	must(err)
	d.pushers[sched] = pusher{incarnation: r.ref.Incarnation}
	if d.drift != nil {
		d.drift.distort(&snapshot)
	}
	r.install(&snapshot)
}

func (d *dataShell) carryOut(step datastore.Step) {
	if !step.Push {
		return
	}
	d.store.Pushed(d.sim.now)
	for i := range d.pushers {
		p := &d.pushers[i]
		if p.busy {
			p.due = min(p.due+1, backlog)
			continue
		}
		d.push(int32(i))
	}
}

// push sends a scheduler what it lacks now.
func (d *dataShell) push(sched int32) {
	p := &d.pushers[sched]
	m := d.sim.take(push)
	if !d.store.FillSnapshot(&m.snapshot, d.sim.schedulers[sched].ref.Name, p.incarnation) {
		d.sim.release(m)
		return
	}
	if d.drift != nil {
		d.drift.distort(&m.snapshot)
	}
	m.sched, m.origin = sched, d.epoch
	p.busy = true
	d.sim.send(m)
}

func (d *dataShell) pushAnswered(m *message) {
	p := &d.pushers[m.sched]
	if !d.up || d.epoch != m.origin || p.incarnation != m.snapshot.ReceiverIncarnation {
		return
	}
	p.busy = false
	name := d.sim.schedulers[m.sched].ref.Name
	switch {
	case m.failed || m.code == cluster.Stale:
		d.store.UnregisterScheduler(name, p.incarnation)
		*p = pusher{}
		return
	case m.code == cluster.Gap:
		d.store.Forget(name)
		d.push(m.sched)
		return
	case m.code == 0:
		d.store.Acknowledged(name, &m.snapshot)
	}
	if p.due > 0 {
		p.due--
		d.push(m.sched)
	}
}

func (d *dataShell) tick() {
	if d.up {
		d.carryOut(d.store.Tick(d.sim.now))
	}
}
