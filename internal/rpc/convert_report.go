package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// reportMessage holds a Report and what it points to, but for its list.
type reportMessage struct {
	report  dodoor.Report
	load    loadMessage
	running dodoor.Amounts
}

// report encodes a worker's state; nil stays nil.
func (e encoder) report(r *cluster.Report) *dodoor.Report {
	if r == nil {
		return nil
	}
	w := &reportMessage{}
	w.report = dodoor.Report{
		Node: &r.Node, Incarnation: &r.Incarnation, Sequence: &r.Sequence,
		Load: e.load(&w.load, &r.Load), RunningDemand: e.amounts(&w.running, &r.RunningDemand),
		Running: narrow(int64(r.Running)), Queued: narrow(int64(r.Queued)), Draining: &r.Draining,
		Received: e.received(r.Received), BlockedMs: millis(r.Blocked),
	}
	return &w.report
}

func (e encoder) received(received []cluster.Received) []*dodoor.Received {
	if len(received) == 0 {
		return nil
	}
	messages := make([]struct {
		received dodoor.Received
		load     loadMessage
	}, len(received))
	list := make([]*dodoor.Received, len(received))
	for i := range received {
		r, w := &received[i], &messages[i]
		w.received = dodoor.Received{
			Scheduler: &r.Scheduler, Incarnation: &r.Incarnation, Number: &r.Number,
			Received: e.load(&w.load, &r.Received),
		}
		list[i] = &w.received
	}
	return list
}

// rider returns a report that may ride on another message.
func (d *decoder) rider(w *dodoor.Report) *cluster.Report {
	if w == nil {
		return nil
	}
	r := d.report("report", w)
	return &r
}

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
	w := &dodoor.Delta{Scheduler: &d.Scheduler, Incarnation: &d.Incarnation, Decisions: &d.Decisions}
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
