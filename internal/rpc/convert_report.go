package rpc

import (
	"math"
	"slices"
	"sync"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// reportMessage holds a Report and what it points to.
type reportMessage struct {
	report   dodoor.Report
	load     loadMessage
	running  dodoor.Amounts
	received []receivedMessage
	list     []*dodoor.Received
}

// writtenReports are messages that were written: a worker's state goes out with every task that ends.
var writtenReports = sync.Pool{New: func() any { return new(reportMessage) }}

// receivedMessage holds a Received and what it points to.
type receivedMessage struct {
	received dodoor.Received
	load     loadMessage
}

// report encodes a worker's state; nil stays nil.
func (e encoder) report(r *cluster.Report) *dodoor.Report {
	if r == nil {
		return nil
	}
	return e.reportInto(&reportMessage{}, r)
}

// reportInto is report into a message that is not in use any more.
func (e encoder) reportInto(w *reportMessage, r *cluster.Report) *dodoor.Report {
	w.report = dodoor.Report{
		Node: &r.Node, Incarnation: &r.Incarnation, Sequence: &r.Sequence,
		Load: e.load(&w.load, &r.Load), RunningDemand: e.amounts(&w.running, &r.RunningDemand),
		Running: narrow(int64(r.Running)), Queued: narrow(int64(r.Queued)), Draining: &r.Draining,
		Received: e.received(w, r.Received), BlockedMs: millis(r.Blocked),
	}
	return &w.report
}

func (e encoder) received(w *reportMessage, received []cluster.Received) []*dodoor.Received {
	if len(received) == 0 {
		return nil
	}
	w.received, w.list = slices.Grow(w.received[:0], len(received))[:len(received)], w.list[:0]
	for i := range received {
		r, m := &received[i], &w.received[i]
		m.received = dodoor.Received{
			Scheduler: &r.Scheduler, Incarnation: &r.Incarnation, Number: &r.Number,
			Received: e.load(&m.load, &r.Received),
		}
		w.list = append(w.list, &m.received)
	}
	return w.list
}

// rider returns a report that may ride on another message.
func (d *decoder) rider(w *dodoor.Report) *cluster.Report {
	if w == nil {
		return nil
	}
	r := d.report("report", w)
	return &r
}

// wholeReport is a report that is the message, not a rider on it.
func (e encoder) wholeReport(r cluster.Report) *dodoor.Report { return e.report(&r) }

func (d *decoder) wholeReport(w *dodoor.Report) cluster.Report { return d.report("report", w) }

func (d *decoder) report(field string, w *dodoor.Report) (r cluster.Report) {
	if w == nil {
		d.missing(field)
		return r
	}
	d.enter(field, -1)
	defer d.leave()
	r.Node = d.name("node", w.Node)
	r.Incarnation = d.incarnation("incarnation", w.Incarnation)
	r.Sequence = d.count("sequence", w.Sequence)
	r.Load = d.load("load", w.Load, sum)
	r.RunningDemand = d.amounts("running_demand", w.RunningDemand, sum)
	r.Running = d.int32("running", w.Running, 0, math.MaxInt32)
	r.Queued = d.int32("queued", w.Queued, 0, math.MaxInt32)
	r.Draining = flag(w.Draining)
	r.Received = d.received(w.Received)
	r.Blocked = d.millis("blocked_ms", w.BlockedMs)
	return r
}

func (d *decoder) received(w []*dodoor.Received) []cluster.Received {
	if d.length("received", len(w), maxItems) == 0 {
		return nil
	}
	received := make([]cluster.Received, len(w))
	for i, m := range w {
		d.enter("received", i)
		received[i] = cluster.Received{
			Scheduler:   d.name("scheduler", m.Scheduler),
			Incarnation: d.incarnation("incarnation", m.Incarnation),
			Number:      d.count("number", m.Number),
			Received:    d.load("received", m.Received, wrapped),
		}
		d.leave()
	}
	return received
}

// placedMessage holds a Placed and what it points to.
type placedMessage struct {
	placed dodoor.Placed
	load   loadMessage
}

func (e encoder) delta(d *cluster.Delta) *dodoor.Delta {
	w := &dodoor.Delta{Scheduler: &d.Scheduler, Incarnation: &d.Incarnation, Decisions: &d.Decisions,
		Experience: e.experience(d.Experience, false)}
	if len(d.Placed) == 0 {
		return w
	}
	messages := make([]placedMessage, len(d.Placed))
	w.Placed = make([]*dodoor.Placed, len(d.Placed))
	for i := range d.Placed {
		p, m := &d.Placed[i], &messages[i]
		m.placed = dodoor.Placed{
			Node: &p.Node, NodeIncarnation: &p.NodeIncarnation, Number: &p.Number, Placed: e.load(&m.load, &p.Placed),
		}
		w.Placed[i] = &m.placed
	}
	return w
}

func (d *decoder) delta(w *dodoor.Delta) (delta cluster.Delta) {
	if w == nil {
		d.missing("delta")
		return delta
	}
	delta.Scheduler = d.name("scheduler", w.Scheduler)
	delta.Incarnation = d.incarnation("incarnation", w.Incarnation)
	delta.Decisions = d.count("decisions", w.Decisions)
	delta.Experience = d.experience(w.Experience, false)
	for i := range delta.Experience {
		delta.Experience[i].Scheduler, delta.Experience[i].Incarnation = delta.Scheduler, delta.Incarnation
	}
	n := d.length("placed", len(w.Placed), maxNodes)
	if n == 0 {
		return delta
	}
	delta.Placed = make([]cluster.Placed, n)
	for i, m := range w.Placed {
		d.enter("placed", i)
		delta.Placed[i] = cluster.Placed{
			Node:            d.name("node", m.Node),
			NodeIncarnation: d.incarnation("node_incarnation", m.NodeIncarnation),
			Number:          d.count("number", m.Number),
			Placed:          d.load("placed", m.Placed, wrapped),
		}
		d.leave()
	}
	return delta
}

func (e encoder) flushReply(incarnation int64) *dodoor.FlushReply {
	return &dodoor.FlushReply{Incarnation: &incarnation}
}

func (d *decoder) flushReply(w *dodoor.FlushReply) int64 {
	return d.incarnation("incarnation", w.Incarnation)
}
