package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// between is what goes wrong between services, of which each has an index: the clients, the data service, schedulers, workers.
type between struct {
	names  []string
	active []*Fault
	dice   *rand.Rand // of shares, from the run's seed
}

const (
	clientsIndex = iota
	dataIndex
	firstScheduler
)

func newBetween(c *Config) between {
	b := between{names: []string{FaultClients, FaultDatastore}, dice: rand.New(rand.NewPCG(c.Replica.Seed, 0x6265747765656e))}
	for i := range c.Schedulers {
		b.names = append(b.names, cluster.SchedulerName(i))
	}
	for i := range c.Nodes {
		b.names = append(b.names, c.Nodes[i].Name)
	}
	return b
}

// change begins a fault (1), or ends it (-1).
func (b *between) change(fault *Fault, by int) {
	if by > 0 {
		b.active = append(b.active, fault)
	} else {
		b.active = slices.DeleteFunc(b.active, func(f *Fault) bool { return f == fault })
	}
}

// loses reports whether what one service sends to another is lost now.
func (b *between) loses(from, to int) bool {
	for _, f := range b.active {
		switch {
		case f.How == Parts && (b.crosses(f, from, to) || !f.OneWay && b.crosses(f, to, from)):
			return true
		case f.How == Drops && (b.crosses(f, from, to) || b.crosses(f, to, from)) && b.dice.Float64() < f.Share:
			return true
		}
	}
	return false
}

// repeats reports whether a request of one service to another arrives twice.
func (b *between) repeats(from, to int) bool {
	for _, f := range b.active {
		if f.How == Duplicates && (b.crosses(f, from, to) || b.crosses(f, to, from)) && b.dice.Float64() < f.Share {
			return true
		}
	}
	return false
}

// crosses reports whether a message goes from one side of a fault to the other.
func (b *between) crosses(f *Fault, from, to int) bool {
	return slices.Contains(f.Between, b.names[from]) && slices.Contains(f.And, b.names[to])
}

// ends returns the indexes of who sent a request and who gets it.
func (s *Simulation) ends(m *message) (from, to int) {
	workers := firstScheduler + len(s.schedulers)
	switch m.method {
	case submit, withdraw:
		return clientsIndex, firstScheduler + int(m.sched)
	case complete:
		return workers + int(m.node), firstScheduler + int(m.sched)
	case push:
		return dataIndex, firstScheduler + int(m.sched)
	case report, registerNode:
		return workers + int(m.node), dataIndex
	case flush, registerScheduler, checkScheduler:
		return firstScheduler + int(m.sched), dataIndex
	}
	return firstScheduler + int(m.sched), workers + int(m.node)
}

// callTimeout is how long the sender of a message that is lost waits for an answer.
const callTimeout = time.Second

// loses takes a message, on its way there or back, that is lost between the two: after a while its sender stops waiting.
func (f *faults) loses(m *message) bool {
	if len(f.between.active) == 0 || m.failed || m.node < 0 && m.method == probe { // of that one, nothing is sent
		return false
	}
	from, to := f.sim.ends(m)
	if m.stage == answered {
		from, to = to, from
	}
	if !f.between.loses(from, to) {
		return false
	}
	if m.stage == requested {
		f.sim.refusedOf[m.method]++
		if countedOnArrival[m.method] {
			f.sim.count(m, -1)
		}
	}
	m.failed, m.stage = true, answered
	f.sim.onHeap(callTimeout, m)
	return true
}

// lagOfDuplicate bounds how much later than the first the second of a message arrives.
const lagOfDuplicate = 100 * time.Millisecond

// repeat sends a request once more that arrives twice. Nobody waits for the second answer.
func (f *faults) repeat(m *message) {
	if len(f.between.active) == 0 || m.echo {
		return
	}
	if from, to := f.sim.ends(m); !f.between.repeats(from, to) {
		return
	}
	echo := f.sim.take(m.method)
	if !echo.copyFrom(m) {
		f.sim.release(echo)
		return
	}
	echo.stage, echo.echo, echo.cuts = requested, true, m.cuts
	f.sim.sent[m.method]++
	f.sim.count(echo, 1)
	f.sim.onHeap(f.sim.cfg.Network.Delay+time.Duration(f.between.dice.Int64N(int64(lagOfDuplicate))), echo)
}

// copyFrom makes m the same request as another, with memory of its own; false: it is of a kind that only asks, or a submission. Were the
// first of two submissions refused and the second taken, its client would know nothing of that: no connection does that to it.
func (m *message) copyFrom(o *message) bool {
	m.sched, m.node, m.origin, m.taskID, m.peer, m.idle = o.sched, o.node, o.origin, o.taskID, o.peer, o.idle
	switch o.method {
	case attach, cancel, withdraw:
		m.enqueue.Scheduler = o.enqueue.Scheduler
	case enqueue:
		m.enqueue = o.enqueue
		m.enqueue.Assignments = slices.Clone(o.enqueue.Assignments)
	case complete:
		m.notice.Message = o.notice.Message
		m.notice.Message.Completions = slices.Clone(o.notice.Message.Completions)
		m.notice.Message.Report = copyReport(o.notice.Message.Report)
	case report:
		m.report = *copyReport(&o.report)
	case push:
		m.snapshot = copySnapshot(&o.snapshot)
	case flush:
		delta := *o.delta
		delta.Placed, delta.Experience = slices.Clone(o.delta.Placed), slices.Clone(o.delta.Experience)
		m.delta = &delta
	default:
		return false
	}
	return true
}

func copyReport(r *cluster.Report) *cluster.Report {
	if r == nil {
		return nil
	}
	own := *r
	own.Received = slices.Clone(r.Received)
	return &own
}

func copySnapshot(s *cluster.Snapshot) cluster.Snapshot {
	own := *s
	own.Node, own.Load, own.ReportSequence = slices.Clone(s.Node), slices.Clone(s.Load), slices.Clone(s.ReportSequence)
	own.OwnNumber, own.Experience = slices.Clone(s.OwnNumber), slices.Clone(s.Experience)
	return own
}
