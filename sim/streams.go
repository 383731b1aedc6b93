package sim

import (
	"errors"
	"slices"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// peer is a scheduler's end of the stream to one worker process.
type peer struct {
	scheduler.Delivery
	node   int32      // of the simulation; -1: no stream
	serial int32      // of the stream: answers to one that it replaced are ignored
	probes []*message // under way, where something may fail
}

func (d *schedulerShell) connect(index int) {
	for len(d.peers) <= index {
		d.peers = append(d.peers, peer{node: -1})
	}
	d.drop(index)
	p := &d.peers[index]
	p.Delivery, p.node = d.deliveries.Open(index), d.sim.nodeIndex[d.replica.Node(index).Name]
	d.advance(index)
}

// drop ends a stream, and with it the wait for what is under way to its worker.
func (d *schedulerShell) drop(index int) {
	probes := d.peers[index].probes
	d.peers[index] = peer{node: -1, serial: d.sim.newStream()}
	for _, m := range probes {
		m.origin = -1 // nobody waits for its answer any more
		d.vain(m.probe)
	}
}

// newStream numbers the streams of all processes: answers to a dead one's messages find no stream.
func (s *Simulation) newStream() int32 {
	s.streams++
	return s.streams
}

// post queues a placement at its stream. A node that left has no stream; its tasks were placed again.
func (d *schedulerShell) post(s *scheduler.Dispatch) {
	if p := &d.peers[s.Node]; p.node >= 0 {
		p.Post(s)
		d.advance(s.Node)
	}
}

// advance makes a stream's next move.
func (d *schedulerShell) advance(index int) {
	p := &d.peers[index]
	if p.node < 0 {
		return // what the last answer led to has ended it
	}
	var m *message
	switch p.Next(d.now()) {
	case scheduler.Rest:
		return
	case scheduler.Attach:
		m = d.sim.take(attach)
		m.enqueue.Scheduler = d.ref
	case scheduler.Enqueue:
		m = d.sim.take(enqueue)
		p.Message(&m.enqueue)
	case scheduler.Recall:
		m = d.sim.take(claim)
		p.Question(&m.claim)
		m.claim.Claims = slices.Clone(m.claim.Claims)
	}
	m.sched, m.node, m.peer, m.origin = d.index, p.node, index, p.serial
	d.sim.send(m)
}

// streamAnswered takes a worker's answer to a handshake or a batch, or its silence.
func (d *schedulerShell) streamAnswered(m *message) {
	index := m.peer
	if !d.up || index >= len(d.peers) || d.peers[index].serial != m.origin {
		return
	}
	p := &d.peers[index]
	var verdict scheduler.Verdict
	switch err := m.problem(); {
	case m.unsent:
		verdict = p.Failed(d.now(), scheduler.Refused, err)
	case err != nil:
		verdict = p.Failed(d.now(), scheduler.Unanswered, err)
	case m.method == attach:
		verdict = p.Attached(d.now(), &m.attach)
	case m.method == claim:
		verdict = p.Told(d.now(), m.holdings)
	default:
		verdict = p.Enqueued(d.now(), &m.reply)
	}
	d.perform(verdict.Actions)
	d.advance(index)
	d.tryAgain(index)
}

// tryAgain wakes a stream up when its next attempt is due.
func (d *schedulerShell) tryAgain(index int) {
	p := &d.peers[index]
	wait, resting := p.Due(d.now())
	if !resting {
		return
	}
	serial, epoch := p.serial, d.epoch
	d.sim.later(wait, func() {
		if d.epoch == epoch && d.up && d.peers[index].serial == serial {
			d.advance(index)
		}
	})
}

// errNoAnswer: the service was down, or went down over the request.
var errNoAnswer = errors.New("nobody answers")

// problem is what came of a request instead of a good answer.
func (m *message) problem() error {
	switch {
	case m.failed:
		return errNoAnswer
	case m.code != 0:
		return &cluster.Error{Code: m.code}
	}
	return nil
}
