package sim

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// schedulerShell carries out what one replica wants done, as schedulerd does over Thrift: one ordered
// stream to every worker, one flush under way at a time, probes on their own.
type schedulerShell struct {
	service
	sim     *Simulation
	index   int32
	ref     cluster.SchedulerRef
	replica *scheduler.Replica
	peers   []peer // by the replica's node index

	flushing    bool
	deltas      []*cluster.Delta // waiting for the flush under way
	registering bool
	cursor      int64 // of the results collected so far

	spec    cluster.TaskSpec // memory of the last submission
	records []cluster.TaskRecord
}

// peer is the ordered stream to one worker process: one message at a time, so that placements arrive in
// the order of their numbers. The first message is the handshake.
type peer struct {
	node      int32 // of the simulation; -1: no stream
	attached  bool
	busy      bool
	down      bool // given up: what it held is placed elsewhere
	backoff   time.Duration
	attempted int64
	givenUp   int64
	serial    int32 // of the stream: answers to one that it replaced are ignored
	waiting   []scheduler.Dispatch
}

const (
	firstBackoff = 10 * time.Millisecond
	lastBackoff  = time.Second
)

// submitted is the handler of a submission.
func (d *schedulerShell) submitted(m *message) {
	if err := d.replica.Admit(1); err != nil {
		m.code = cluster.CodeOf(err)
		return
	}
	d.spec = d.sim.cfg.Workload.Task(int(m.task))
	ready, refusal := d.replica.Submit(d.sim.now, client, &d.spec)
	if refusal != nil {
		d.sim.generator.refused(m.task, refusal)
	}
	d.sim.moves++
	d.carryOut(ready)
}

// completed is the handler of a completion notice.
func (d *schedulerShell) completed(m *message) {
	ready, err := d.replica.Completed(d.sim.now, &m.notice.Message)
	m.code = cluster.CodeOf(err)
	d.carryOut(ready)
}

// pushed is the handler of a snapshot.
func (d *schedulerShell) pushed(m *message) {
	ready, err := d.replica.Push(d.sim.now, &m.snapshot)
	m.code = cluster.CodeOf(err)
	d.carryOut(ready)
}

// install takes the snapshot that comes with a registration.
func (d *schedulerShell) install(snapshot *cluster.Snapshot) {
	ready, err := d.replica.Push(d.sim.now, snapshot)
	must(err)
	d.carryOut(ready)
}

// carryOut turns what the replica wants into messages.
func (d *schedulerShell) carryOut(ready *scheduler.Ready) {
	for _, i := range ready.Drop {
		d.peers[i] = peer{node: -1, serial: d.sim.newStream()}
	}
	for _, i := range ready.Connect {
		d.connect(i)
	}
	for i := range ready.Send {
		d.post(&ready.Send[i])
	}
	for _, call := range ready.Probe {
		d.probe(call)
	}
	for _, call := range ready.Cancel {
		if p := &d.peers[call.Node]; p.node >= 0 {
			m := d.sim.take(cancel)
			m.sched, m.node, m.taskID = d.index, p.node, call.TaskID
			d.sim.send(m)
		}
	}
	if len(ready.Flush) > 0 {
		d.deltas = append(d.deltas, ready.Flush...)
		d.flush()
	}
	if ready.Wake {
		d.collect()
	}
}

func (d *schedulerShell) connect(index int) {
	for len(d.peers) <= index {
		d.peers = append(d.peers, peer{node: -1})
	}
	n := d.replica.Node(index)
	d.peers[index] = peer{node: d.sim.nodeIndex[n.Name], serial: d.sim.newStream()}
}

// newStream numbers the streams of all processes: answers to a dead one's messages find no stream.
func (s *Simulation) newStream() int32 {
	s.streams++
	return s.streams
}

// post queues a placement at its stream. A node that left has no stream; its tasks were placed again.
func (d *schedulerShell) post(s *scheduler.Dispatch) {
	p := &d.peers[s.Node]
	if p.node < 0 {
		return
	}
	if p.attached && !p.busy && len(p.waiting) == 0 {
		m := d.outbound(p, s.Node, enqueue)
		m.batch = append(m.batch[:0], *s)
		d.deliver(p, m)
		return
	}
	p.waiting = append(p.waiting, *s)
	d.pump(s.Node)
}

// outbound starts the stream's next message.
func (d *schedulerShell) outbound(p *peer, index int, method method) *message {
	m := d.sim.take(method)
	m.sched, m.node, m.peer, m.origin = d.index, p.node, index, p.serial
	m.enqueue.Scheduler = d.ref
	p.busy = true
	return m
}

// pump sends what waits for a stream that has no message under way.
func (d *schedulerShell) pump(index int) {
	p := &d.peers[index]
	if p.busy {
		return
	}
	if !p.attached {
		if len(p.waiting) > 0 || p.down {
			d.sim.send(d.outbound(p, index, attach))
		}
		return
	}
	keep := 0
	for ; keep < len(p.waiting) && p.waiting[keep].Assignment.Number <= p.givenUp && p.waiting[keep].Assignment.TaskID != ""; keep++ {
	}
	count := min(len(p.waiting)-keep, d.sim.cfg.MaxBatch)
	if count > 0 {
		m := d.outbound(p, index, enqueue)
		m.batch = append(m.batch[:0], p.waiting[keep:keep+count]...)
		d.deliver(p, m)
	}
	p.waiting = append(p.waiting[:0], p.waiting[keep+count:]...)
}

// deliver sends a batch of placements: P at its last number goes with it.
func (d *schedulerShell) deliver(p *peer, m *message) {
	last := &m.batch[len(m.batch)-1]
	p.attempted = last.Assignment.Number
	e := &m.enqueue
	e.NodeIncarnation = last.NodeIncarnation
	e.Number, e.Placed, e.Assignments = last.Assignment.Number, last.Placed, e.Assignments[:0]
	for i := range m.batch {
		if m.batch[i].Assignment.TaskID != "" {
			e.Assignments = append(e.Assignments, m.batch[i].Assignment)
		}
	}
	d.sim.send(m)
}

// streamAnswered takes a worker's answer to a handshake or a batch, or its silence.
func (d *schedulerShell) streamAnswered(m *message) {
	if !d.up || m.peer >= len(d.peers) || d.peers[m.peer].serial != m.origin {
		return
	}
	p := &d.peers[m.peer]
	p.busy = false
	switch {
	case m.failed || m.code != 0:
		d.unreachable(p, m)
	case m.method == attach:
		p.attached, p.down, p.backoff = true, false, 0
		d.carryOut(d.replica.Attached(d.sim.now, m.peer, d.sim.workers[m.node].ref.Name, &m.attach))
		d.pump(m.peer)
	default:
		d.carryOut(d.replica.Acknowledged(d.sim.now, m.batch, &m.reply))
		d.pump(m.peer)
	}
}

// unreachable gives a worker up at once: a refused connection is final. The stream is tried again, less
// and less often, until the worker answers or leaves the roster.
func (d *schedulerShell) unreachable(p *peer, m *message) {
	n := d.replica.Node(m.peer)
	p.attached = false
	if m.failed {
		d.replica.Suspect(m.peer, n.Incarnation)
		if m.unsent && m.method == enqueue {
			p.attempted = m.batch[0].Assignment.Number - 1
		}
		if !p.down {
			p.down, p.givenUp = true, d.replica.LastNumber(m.peer, n.Incarnation)
			p.waiting = p.waiting[:0]
			d.carryOut(d.replica.NodeDown(d.sim.now, m.peer, n.Incarnation, p.attempted))
			p = &d.peers[m.peer]
		}
	} else if m.method == enqueue {
		p.waiting = append(append([]scheduler.Dispatch(nil), m.batch...), p.waiting...)
	}
	p.backoff = min(max(2*p.backoff, firstBackoff), lastBackoff)
	index, serial, epoch := m.peer, p.serial, d.epoch
	d.sim.later(p.backoff, func() {
		if d.epoch == epoch && d.up && d.peers[index].serial == serial {
			d.pump(index)
		}
	})
}

// probe asks a worker for its state.
func (d *schedulerShell) probe(call scheduler.ProbeCall) {
	m := d.sim.take(probe)
	m.sched, m.origin = d.index, d.epoch
	m.probe = scheduler.Probe{Task: call.Task, Node: call.Node}
	m.node = d.peers[call.Node].node
	if m.node < 0 {
		m.failed, m.stage = true, answered
		d.sim.onHeap(0, m)
		return
	}
	d.sim.send(m)
}

func (d *schedulerShell) probeAnswered(m *message) {
	if !d.up || d.epoch != m.origin {
		return
	}
	m.probe.Failed = m.failed
	d.carryOut(d.replica.Probed(d.sim.now, m.probe))
}

// flush sends the deltas that wait, as one, unless one is under way.
func (d *schedulerShell) flush() {
	if d.flushing || len(d.deltas) == 0 {
		return
	}
	d.flushing = true
	count := min(len(d.deltas), d.sim.cfg.MaxBatch)
	m := d.sim.take(flush)
	m.sched, m.origin = d.index, d.epoch
	m.delta = scheduler.Merge(d.deltas[:count])
	d.deltas = d.deltas[count:]
	d.sim.send(m)
}

func (d *schedulerShell) flushAnswered(m *message) {
	if !d.up || d.epoch != m.origin {
		return
	}
	d.flushing = false
	if m.failed || m.code != 0 {
		d.replica.FlushFailed(m.delta)
		d.sim.faults.schedulerLost(d)
	}
	d.flush()
}

// collect hands the results to the generator, which waits for them all the time: a long poll costs no
// scheduler's time until there is one.
func (d *schedulerShell) collect() {
	for {
		records, cursor, err := d.replica.AppendRecords(d.records[:0], client, d.cursor, collectMax)
		if err != nil || len(records) == 0 {
			return
		}
		d.records, d.cursor = records, cursor
		for i := range records {
			d.sim.generator.ended(&records[i])
		}
	}
}

const (
	client     = "generator"
	collectMax = 1024
)

// tick lets time pass for the replica.
func (d *schedulerShell) tick() {
	if d.up {
		d.carryOut(d.replica.Tick(d.sim.now))
	}
}
