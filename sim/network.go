package sim

import "time"

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

// service is a station's line and handlers at one replica or node.
type service struct {
	up      bool
	clock   *kernel
	born    time.Duration // its process, which reads the time since then
	offset  time.Duration // of its host's clock
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

// send starts a request on its way.
func (s *Simulation) send(m *message) {
	m.stage = requested
	s.sent[m.method]++
	s.count(m, 1)
	at, _, _ := s.service(m)
	m.cuts = at.cuts
	s.faults.repeat(m)
	s.fly(m)
}

// fly takes a request to its service, or its answer back.
func (s *Simulation) fly(m *message) { s.after(s.cfg.Network.Delay+s.faults.lag(m), flightLane, m) }

// service returns where a request goes, and how requests are handled there.
func (s *Simulation) service(m *message) (*service, *Station, int) {
	switch m.method {
	case enqueue, attach, claim, probe, cancel:
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
	if lane != schedulerLane || !s.schedulers[m.sched].defers(m) {
		s.respond(m, at)
	}
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

// respond answers a request that was carried out.
func (s *Simulation) respond(m *message, at *service) {
	m.failed = at.mute > 0
	s.answer(m)
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
	case claim:
		s.workers[m.node].claimed(m)
	case probe:
		s.workers[m.node].probed(m)
	case cancel:
		s.workers[m.node].cancelled(m)
	case withdraw:
		s.schedulers[m.sched].withdrawn(m)
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
	if m.echo {
		s.release(m)
		return
	}
	switch m.method {
	case submit:
		s.clients[m.client].answered(m)
	case enqueue, attach, claim:
		s.schedulers[m.sched].streamAnswered(m)
	case withdraw:
		s.clients[m.client].withdrawalAnswered(m)
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
