package sim

import (
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

const (
	delay = 10 * time.Millisecond
	cost  = time.Millisecond
)

// nobody is a sender whom the answer does not concern any more.
const nobody = -1

// stations are a request to every kind of service.
var stations = []struct {
	name    string
	request func(s *Simulation) *message
	service func(s *Simulation) *service
}{
	{"scheduler", func(s *Simulation) *message {
		m := s.take(push)
		m.sched, m.origin, m.snapshot = 0, nobody, cluster.Snapshot{}
		return m
	}, func(s *Simulation) *service { return &s.schedulers[0].service }},
	{"data service", func(s *Simulation) *message {
		m := s.take(flush)
		m.sched, m.origin, m.delta = 0, nobody, &cluster.Delta{Scheduler: "scheduler-1", Incarnation: 1}
		return m
	}, func(s *Simulation) *service { return &s.data.service }},
	{"worker", func(s *Simulation) *message {
		m := s.take(cancel)
		m.sched, m.node, m.taskID = 0, 0, "nobody's"
		return m
	}, func(s *Simulation) *service { return &s.workers[0].service }},
}

// bench is a cluster whose stations have two handlers.
func bench(t *testing.T) *Simulation {
	cfg := tiny(t, "dodoor", 1)
	station := Station{Cost: cost, Handlers: 2}
	cfg.Network = Network{Delay: delay, Scheduler: station, Data: station, Worker: station}
	return start(t, cfg)
}

// watch lets everything happen and returns when requests were handled and when refused.
func watch(s *Simulation) (handled, refused []time.Duration) {
	sum := func(counts [methods]int64) (total int64) {
		for _, n := range counts {
			total += n
		}
		return total
	}
	h, r := sum(s.handledOf), sum(s.refusedOf)
	for s.step() {
		for ; h < sum(s.handledOf); h++ {
			handled = append(handled, s.now)
		}
		for ; r < sum(s.refusedOf); r++ {
			refused = append(refused, s.now)
		}
	}
	return handled, refused
}

// Two handlers serve five requests that arrive at the same time one, one, two, two and three times the cost
// later, in the order of arrival.
func TestHandlersAreLimited(t *testing.T) {
	for _, c := range stations {
		t.Run(c.name, func(t *testing.T) {
			s := bench(t)
			for range 5 {
				s.send(c.request(s))
			}
			handled, refused := watch(s)
			want := []time.Duration{delay + cost, delay + cost, delay + 2*cost, delay + 2*cost, delay + 3*cost}
			if !slices.Equal(handled, want) || len(refused) > 0 {
				t.Errorf("handled at %v, want %v; refused at %v", handled, want, refused)
			}
			if s.now != delay+3*cost+delay {
				t.Errorf("the last answer arrives at %v", s.now)
			}
			if at := c.service(s); at.busy != 0 || at.head != nil || at.tail != nil {
				t.Errorf("idle, and yet %+v", at)
			}
		})
	}
}

// A request to a service that is down is refused when it arrives; the sender knows one delay later.
func TestDeadServicesRefuse(t *testing.T) {
	for _, c := range stations {
		t.Run(c.name, func(t *testing.T) {
			s := bench(t)
			s.die(c.service(s))
			s.send(c.request(s))
			handled, refused := watch(s)
			if len(handled) > 0 || !slices.Equal(refused, []time.Duration{delay}) || s.now != 2*delay {
				t.Errorf("handled at %v, refused at %v, known at %v; want refused at %v", handled, refused, s.now, delay)
			}
		})
	}
}

// A service that dies refuses what waits, what its handlers had begun, and what is on its way to it: the connection
// breaks. When it is back at once, it serves others although these are still to be heard of.
func TestADyingServiceRefusesWhatItHad(t *testing.T) {
	for _, c := range stations {
		t.Run(c.name, func(t *testing.T) {
			s := bench(t)
			for range 5 {
				s.send(c.request(s))
			}
			s.later(delay+cost/2, func() {
				at := c.service(s)
				s.die(at)
				at.up = true
			})
			s.later(cost/2+1, func() { s.send(c.request(s)) }) // arrives just after
			s.later(delay+cost/2+1, func() { s.send(c.request(s)) })
			handled, refused := watch(s)
			died, over := delay+cost/2, delay+cost
			if want := []time.Duration{died, died, died, died + 1, over, over}; !slices.Equal(refused, want) {
				t.Errorf("refused at %v, want %v", refused, want)
			}
			if want := []time.Duration{died + 1 + delay + cost}; !slices.Equal(handled, want) {
				t.Errorf("handled at %v, want %v", handled, want)
			}
			if at := c.service(s); at.busy != 0 {
				t.Errorf("idle, and yet %d handlers are busy", at.busy)
			}
		})
	}
}

// A message that is used again has nothing of its former life that could change its next one.
func TestMessagesAreUsedAgainClean(t *testing.T) {
	s := bench(t)
	m := s.take(report)
	m.failed, m.code, m.delta, m.do = true, cluster.Stale, &cluster.Delta{}, func() {}
	s.release(m)
	if s.take(push) == m {
		t.Error("handed out for another method")
	}
	other := s.take(report)
	if other != m || other.failed || other.code != 0 || other.delta != nil || other.do != nil || other.next != nil {
		t.Errorf("%+v", other)
	}
	if s.take(report) == m {
		t.Error("handed out twice")
	}
}
