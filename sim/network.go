package sim

import (
	"time"

	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// Network is what messages cost. Every request takes Delay to its service, waits there for one of a
// limited number of handlers, occupies it for the service's cost, and its answer takes Delay back.
type Network struct {
	Delay     time.Duration // one way
	Scheduler Station
	Data      Station
	Worker    Station
}

// patience is far longer than a few messages take, one after the other.
func (n *Network) patience() time.Duration {
	return 100 * (n.Delay + max(n.Scheduler.Cost, n.Data.Cost, n.Worker.Cost))
}

// Station is how one kind of service handles requests.
type Station struct {
	Cost     time.Duration // of handling one
	Handlers int           // that work at the same time
}

// stage is where a message stands.
type stage uint8

const (
	requested stage = iota // it reaches its service
	handled                // a handler is done with it
	answered               // the answer reaches its sender
	ended                  // an execution ends
	due                    // a task arrives at the generator
	timed                  // do is called
	beats                  // a heartbeat is due
	overran                // a task may have run past its estimate
)

// method is a kind of request.
type method uint8

const (
	submit method = iota
	enqueue
	attach
	probe
	cancel
	complete
	push
	flush
	report
	registerNode
	registerScheduler
	checkScheduler
	methods
	noRequest = methods // of executions, timers and tasks that are due
)

// message is a request on its way to its service and back, and everything else that happens at a moment:
// one value for all, so that it can be used again.
type message struct {
	stage  stage
	method method
	failed bool // nobody answered; of an execution: it ran into its time limit
	unsent bool // of a failed one: nobody listened, so it certainly did not arrive
	code   cluster.ErrorCode
	sched  int32
	node   int32 // of the simulation; -1: none
	epoch  int32 // of the service when the message reached it; of the sender for executions and timers
	origin int32 // epoch of the sender
	task   int32 // of the workload
	cuts   int32 // of the service when the message was sent
	next   *message

	submission *generator.Message // of submit
	refused    []cluster.Refusal

	taskID   string
	demand   cluster.Resources // of an execution
	enqueue  cluster.Enqueue
	reply    cluster.EnqueueReply
	attach   cluster.AttachReply
	notice   worker.Notice
	report   cluster.Report
	newcomer cluster.Node // of registerNode
	delta    *cluster.Delta
	snapshot cluster.Snapshot
	push     datastore.Push
	probe    scheduler.Probe
	peer     int  // index of node in the scheduler's view
	idle     bool // a report that is a heartbeat
	do       func()
}

// service is a station's line and handlers at one replica or node.
type service struct {
	up      bool
	clock   *kernel
	born    time.Duration // its process, which reads the time since then
	outages int           // faults that keep it away
	epoch   int32         // grows with every death: what it was handling dies with it
	cuts    int32         // how often all connections to it broke
	trouble
	busy       int
	head, tail *message // waiting for a handler
}

// begin starts a process of a service.
func (s *Simulation) begin(at *service) { at.up, at.clock, at.born = true, &s.kernel, s.now }

// now is what the process of a service reads on its clock.
func (s *service) now() time.Duration { return s.clock.now - s.born }

// take hands out an unused message of a method. Each method has its own, because what a message carries
// keeps its memory: were they to change places, every report would end up with room for a snapshot.
func (s *Simulation) take(of method) *message {
	m := s.free[of]
	if m == nil {
		return &message{method: of}
	}
	s.free[of], m.next = m.next, nil
	return m
}

// release keeps a message for the next use; its slices keep their memory.
func (s *Simulation) release(m *message) {
	m.failed, m.unsent, m.code = false, false, 0
	m.delta, m.do = nil, nil
	m.next = s.free[m.method]
	s.free[m.method] = m
}

// send starts a request on its way.
func (s *Simulation) send(m *message) {
	m.stage = requested
	s.sent[m.method]++
	s.count(m, 1)
	at, _, _ := s.service(m)
	m.cuts = at.cuts
	s.fly(m)
}

// fly takes a request to its service, or its answer back.
func (s *Simulation) fly(m *message) { s.after(s.cfg.Network.Delay+s.faults.lag(m), flightLane, m) }

// service returns where a request goes, and how requests are handled there.
func (s *Simulation) service(m *message) (*service, *Station, int) {
	switch m.method {
	case enqueue, attach, probe, cancel:
		return &s.workers[m.node].service, &s.cfg.Network.Worker, workerLane
	case flush, report, registerNode, registerScheduler, checkScheduler:
		return &s.data.service, &s.cfg.Network.Data, dataLane
	}
	return &s.schedulers[m.sched].service, &s.cfg.Network.Scheduler, schedulerLane
}

// arrive gives a request to a handler, or lets it wait for one.
func (s *Simulation) arrive(m *message) {
	at, station, lane := s.service(m)
	if m.cuts != at.cuts || !at.reachable() || at.deaf > 0 {
		s.miss(m, at)
		return
	}
	m.epoch = at.epoch
	if at.busy == station.Handlers {
		if at.tail != nil {
			at.tail.next = m
		} else {
			at.head = m
		}
		at.tail = m
		return
	}
	at.busy++
	s.handle(m, station, lane)
}

// handle occupies a handler with a request. A worker's handlers share its cores with its tasks.
func (s *Simulation) handle(m *message, station *Station, lane int) {
	m.stage = handled
	cost := station.Cost
	if lane == workerLane {
		cost = s.slowed(cost, m.node)
	}
	s.after(cost, lane, m)
}

// finish carries a request out, now that its handler is done with it, and takes the next one.
func (s *Simulation) finish(m *message) {
	at, station, lane := s.service(m)
	if m.epoch != at.epoch {
		s.refuse(m) // the service died over it
		return
	}
	s.handledOf[m.method]++
	s.serve(m)
	m.failed = at.mute > 0
	s.answer(m)
	if next := at.head; next != nil {
		at.head, next.next = next.next, nil
		if at.head == nil {
			at.tail = nil
		}
		s.handle(next, station, lane)
		return
	}
	at.busy--
}

// die ends a service: what it had in hand or in line is refused.
func (s *Simulation) die(at *service) {
	at.up, at.busy = false, 0
	at.epoch++
	at.cuts++
	for m := at.head; m != nil; {
		next := m.next
		m.next = nil
		s.refuse(m)
		m = next
	}
	at.head, at.tail = nil, nil
}

// refuse answers a request that nobody handles.
func (s *Simulation) refuse(m *message) {
	m.failed = true
	s.refusedOf[m.method]++
	s.answer(m)
}

// answer sends a request's answer on its way.
func (s *Simulation) answer(m *message) {
	m.stage = answered
	s.fly(m)
}

// serve is the service's side of every method.
func (s *Simulation) serve(m *message) {
	switch m.method {
	case submit:
		s.schedulers[m.sched].submitted(m)
	case complete:
		s.schedulers[m.sched].completed(m)
	case push:
		s.schedulers[m.sched].pushed(m)
	case enqueue:
		s.workers[m.node].enqueued(m)
	case attach:
		s.workers[m.node].attachedTo(m)
	case probe:
		s.workers[m.node].probed(m)
	case cancel:
		s.workers[m.node].cancelled(m)
	case flush:
		s.data.flushed(m)
	case report:
		s.data.reported(m)
	case registerNode:
		s.data.nodeCame(m)
	case registerScheduler:
		s.data.schedulerCame(m)
	case checkScheduler:
		s.data.checked(m)
	}
}

// settle is the sender's side: an answer, or the lack of one, has come back.
func (s *Simulation) settle(m *message) {
	switch m.method {
	case submit:
		s.generator.answered(m)
	case enqueue, attach:
		s.schedulers[m.sched].streamAnswered(m)
	case probe:
		s.schedulers[m.sched].probeAnswered(m)
	case flush:
		s.schedulers[m.sched].flushAnswered(m)
	case complete:
		s.workers[m.node].noticeAnswered(m)
	case report, registerNode:
		s.workers[m.node].reportAnswered(m)
	case registerScheduler, checkScheduler:
		s.schedulers[m.sched].registrationAnswered(m)
	case push:
		s.data.pushAnswered(m)
	case cancel:
	}
	s.release(m)
}
