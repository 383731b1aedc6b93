package sim

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// schedulerShell performs what one replica wants done, as schedulerd does over Thrift: one ordered
// stream to every worker, one flush under way at a time, probes on their own.
type schedulerShell struct {
	service
	sim     *Simulation
	index   int32
	ref     cluster.SchedulerRef
	replica *scheduler.Replica
	peers   []peer // by the replica's node index

	deliveries scheduler.Deliveries
	flusher    scheduler.Flusher
	registrar  scheduler.Registrar

	spec   cluster.TaskSpec // memory of the last submission
	disk   disk
	writer writer
}

// submitted is the handler of a submission.
func (d *schedulerShell) submitted(m *message) {
	if m.memory != 0 && m.memory != d.replica.Memory() {
		m.code = cluster.Stale
		return
	}
	if err := d.replica.Admit("", d.sim.clients[m.client].name, 1); err != nil {
		m.code, m.after = cluster.CodeOf(err), cluster.AfterOf(err)
		return
	}
	d.spec = d.sim.spec(m.task)
	actions, refusal := d.replica.Submit(d.now(), d.sim.clients[m.client].name, &d.spec)
	if refusal != nil {
		m.refused = append(m.refused, *refusal)
	}
	d.sim.moves++
	d.perform(actions)
}

// completed is the handler of a completion notice.
func (d *schedulerShell) completed(m *message) {
	actions, err := d.replica.Completed(d.now(), &m.notice.Message)
	m.code = cluster.CodeOf(err)
	d.perform(actions)
}

// pushed is the handler of a snapshot.
func (d *schedulerShell) pushed(m *message) {
	actions, err := d.replica.Push(d.now(), &m.snapshot)
	m.code = cluster.CodeOf(err)
	d.perform(actions)
}

// take takes a snapshot that cannot be refused.
func (d *schedulerShell) take(snapshot *cluster.Snapshot) {
	actions, err := d.replica.Push(d.now(), snapshot)
	must(err)
	d.perform(actions)
}

// install takes the snapshot that comes with a registration.
func (d *schedulerShell) install(snapshot cluster.Snapshot, service int64) {
	d.take(&snapshot)
	d.registrar.Registered(d.now(), service)
}

// register asks the data service what it is to be asked now, if anything, or looks again when it is time.
func (d *schedulerShell) register() {
	ask, wake := d.registrar.Next(d.now())
	var m *message
	switch ask {
	case scheduler.RegisterRequest:
		m = d.sim.take(registerScheduler)
	case scheduler.CheckRequest:
		m = d.sim.take(checkScheduler)
	default:
		epoch := d.epoch
		if wake > 0 {
			d.sim.later(wake-d.now(), func() {
				if d.up && d.epoch == epoch {
					d.register()
				}
			})
		}
		return
	}
	m.sched, m.origin, m.enqueue.Scheduler = d.index, d.epoch, d.ref
	d.sim.send(m)
}

// registrationAnswered takes what came of a registration, or of a look whether it still holds.
func (d *schedulerShell) registrationAnswered(m *message) {
	if !d.up || d.epoch != m.origin {
		return
	}
	switch err := m.problem(); {
	case err != nil:
		d.registrar.Failed(d.now(), cluster.CodeOf(err))
	case m.method == registerScheduler:
		d.install(m.snapshot, process(m.epoch))
	default:
		d.registrar.Known(d.now())
	}
	d.register()
}

// perform turns what the replica wants into messages.
func (d *schedulerShell) perform(actions *scheduler.Actions) {
	for _, i := range actions.Drop {
		d.drop(i)
	}
	for _, i := range actions.Connect {
		d.connect(i)
	}
	for _, i := range actions.Ask {
		d.peers[i].Ask()
		d.advance(i)
	}
	for i := range actions.Send {
		d.post(&actions.Send[i])
	}
	for _, call := range actions.Probe {
		d.probe(call)
	}
	for _, call := range actions.Cancel {
		if d.replica.Leaves(&call) {
			d.stop(&call)
		} else {
			d.writer.cancels = append(d.writer.cancels, call)
		}
	}
	if len(actions.Flush) > 0 {
		for _, delta := range actions.Flush {
			d.flusher.Post(delta)
		}
		d.flush()
	}
	if actions.Wake {
		d.sim.collect(d.index)
	}
	d.keep()
}

// stop asks a worker to stop a task.
func (d *schedulerShell) stop(call *scheduler.CancelCall) {
	if p := &d.peers[call.Node]; p.node >= 0 {
		m := d.sim.take(cancel)
		m.sched, m.node, m.taskID = d.index, p.node, call.TaskID
		d.sim.send(m)
	}
}

// probe asks a worker for its state.
func (d *schedulerShell) probe(call scheduler.ProbeCall) {
	asked := scheduler.Probe{Task: call.Task, Node: call.Node}
	p := &d.peers[call.Node]
	if p.node < 0 {
		d.vain(asked)
		return
	}
	m := d.sim.take(probe)
	m.sched, m.node, m.origin, m.probe = d.index, p.node, d.epoch, asked
	if len(d.sim.cfg.Faults) > 0 {
		p.probes = append(p.probes, m)
	}
	d.sim.send(m)
}

// vain answers a probe to nobody.
func (d *schedulerShell) vain(asked scheduler.Probe) {
	m := d.sim.take(probe)
	m.sched, m.node, m.origin, m.probe, m.failed, m.stage = d.index, -1, d.epoch, asked, true, answered
	d.sim.onHeap(0, m)
}

func (d *schedulerShell) probeAnswered(m *message) {
	if !d.up || d.epoch != m.origin {
		return
	}
	if p := &d.peers[m.probe.Node]; len(p.probes) > 0 {
		p.probes = slices.DeleteFunc(p.probes, func(other *message) bool { return other == m })
	}
	m.probe.Failed = m.failed
	d.perform(d.replica.Probed(d.now(), m.probe))
}

// flush sends what the flusher wants sent.
func (d *schedulerShell) flush() {
	delta := d.flusher.Next()
	if delta == nil {
		return
	}
	m := d.sim.take(flush)
	m.sched, m.origin, m.delta = d.index, d.epoch, delta
	d.sim.send(m)
}

func (d *schedulerShell) flushAnswered(m *message) {
	if !d.up || d.epoch != m.origin {
		return
	}
	if d.flusher.Answered(process(m.epoch), m.problem()) {
		d.registrar.Lost(d.now())
		d.register()
	}
	d.flush()
}

// process numbers the processes of a service from 1, as if this were their incarnation.
func process(epoch int32) int64 { return int64(epoch) + 1 }

// startClock lets time pass for this process.
func (d *schedulerShell) startClock(every time.Duration) {
	d.sim.everyWhileUp(&d.service, every, d.tick)
}

func (d *schedulerShell) tick() { d.perform(d.replica.Tick(d.now())) }
