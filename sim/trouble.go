package sim

import "time"

// trouble is what keeps messages from a service, or what it says from others, while its process lives. Faults of
// one kind may overlap.
type trouble struct {
	stalls, refuses, deaf, mute int
	lag                         time.Duration
}

// change begins a fault (1), or ends it (-1).
func (t *trouble) change(fault *Fault, by int) {
	switch fault.How {
	case Stalls:
		t.stalls += by
	case Refuses:
		t.refuses += by
	case Deaf:
		t.deaf += by
	case Mute:
		t.mute += by
	case Slow:
		t.lag += time.Duration(by) * fault.Delay
	}
}

// reachable reports whether somebody listens at a service's address.
func (s *service) reachable() bool { return s.up && s.refuses == 0 }

// sender returns who sent a request; nil: the generator.
func (s *Simulation) sender(m *message) *service {
	switch m.method {
	case submit, withdraw:
		return nil
	case complete, report, registerNode:
		return &s.workers[m.node].service
	case push:
		return &s.data.service
	}
	return &s.schedulers[m.sched].service
}

// hold keeps a message that reaches or leaves a service that stalls, until it does not any more.
func (f *faults) hold(m *message) bool {
	if f.stalling == 0 || m.node < 0 && m.method == probe { // of that one, nothing is sent
		return false
	}
	to, _, _ := f.sim.service(m)
	if from := f.sim.sender(m); to.stalls == 0 && (from == nil || from.stalls == 0) {
		return false
	}
	f.held = append(f.held, m)
	return true
}

// resume lets what was held go on, in the order in which it came.
func (f *faults) resume() {
	held := f.held
	f.held = nil
	for _, m := range held {
		f.sim.onHeap(0, m)
	}
	for i := range f.sim.schedulers {
		f.sim.collect(int32(i))
	}
}

// lag is how much longer than others a message takes.
func (f *faults) lag(m *message) time.Duration {
	if f.slow == 0 {
		return 0
	}
	to, _, _ := f.sim.service(m)
	lag := to.lag
	if from := f.sim.sender(m); from != nil {
		lag += from.lag
	}
	return lag
}

// miss answers a request that does not arrive. One whose connection breaks on the way was sent all the same; where
// nobody listened there was none. A service counts what arrives there.
func (s *Simulation) miss(m *message, at *service) {
	m.unsent = m.cuts == at.cuts && !at.reachable()
	if m.unsent || countedOnArrival[m.method] {
		s.count(m, -1)
	}
	s.refuse(m)
}
