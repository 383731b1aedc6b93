package datastore

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// node is one worker: its newest report, and per scheduler the newest cumulative vectors of the stream
// between them. A node that deltas mention before it registers (after a crash of the data service, say)
// is kept unregistered, so that the order of arrival does not matter.
type node struct {
	cluster.Node
	registered bool
	seen       time.Duration // when it was heard from last
	heard      time.Duration // the same, on the clock of silence
	changed    int64         // store version of its last change
	report     cluster.Report
	streams    []stream
}

// stream pairs what a scheduler placed on a worker process (P) with what that process received (R).
type stream struct {
	scheduler       string
	incarnation     int64 // of the scheduler
	nodeIncarnation int64
	placedNumber    int64
	placed          cluster.Load
	receivedNumber  int64
	received        cluster.Load
}

// stream returns the stream of a scheduler process to a worker process, or nil when either is older
// than what is already known. A newer process of either starts the stream afresh: what its predecessor
// had on the way either arrived, and is in the report, or never will.
func (n *node) stream(scheduler string, incarnation, nodeIncarnation int64) *stream {
	for i := range n.streams {
		st := &n.streams[i]
		if st.scheduler != scheduler {
			continue
		}
		if incarnation < st.incarnation || nodeIncarnation < st.nodeIncarnation {
			return nil
		}
		if incarnation > st.incarnation || nodeIncarnation > st.nodeIncarnation {
			*st = stream{scheduler: scheduler, incarnation: incarnation, nodeIncarnation: nodeIncarnation}
		}
		return st
	}
	n.streams = append(n.streams, stream{scheduler: scheduler, incarnation: incarnation, nodeIncarnation: nodeIncarnation})
	return &n.streams[len(n.streams)-1]
}

// place merges P of one stream and reports whether it was news.
func (n *node) place(scheduler string, incarnation int64, p *cluster.Placed) bool {
	st := n.stream(scheduler, incarnation, p.NodeIncarnation)
	if st == nil || p.Number <= st.placedNumber {
		return false
	}
	st.placedNumber, st.placed = p.Number, p.Placed
	return true
}

// withdraw forgets P of a scheduler, keeping R, and reports whether anything was on its way.
func (n *node) withdraw(scheduler string) bool {
	for i := range n.streams {
		if st := &n.streams[i]; st.scheduler == scheduler {
			ahead := st.placedNumber > st.receivedNumber
			st.placedNumber, st.placed = 0, cluster.Load{}
			return ahead
		}
	}
	return false
}

// forget drops the stream of a scheduler that stays away.
func (n *node) forget(scheduler string) {
	n.streams = slices.DeleteFunc(n.streams, func(st stream) bool { return st.scheduler == scheduler })
}

// receive takes a newer report with R of every stream.
func (n *node) receive(r *cluster.Report) {
	received := append(n.report.Received[:0], r.Received...) // the message belongs to its sender
	n.report = *r
	n.report.Received = received
	for i := range r.Received {
		v := &r.Received[i]
		if st := n.stream(v.Scheduler, v.Incarnation, r.Incarnation); st != nil && v.Number >= st.receivedNumber {
			st.receivedNumber, st.received = v.Number, v.Received
		}
	}
}

// load is the exact aggregate: what the worker holds, plus what is on its way to it,
//
//	load = report + Σ_s (P_s − R_s)  over the schedulers whose P is ahead of R.
//
// Each term is cumulative, so that repetition, loss and reordering of messages cannot distort it.
func (n *node) load() cluster.Load {
	l := n.report.Load
	for i := range n.streams {
		st := &n.streams[i]
		if st.nodeIncarnation == n.Incarnation && st.placedNumber > st.receivedNumber {
			l = l.Add(st.placed).Sub(st.received)
		}
	}
	return l
}

// included returns the last placement number of a scheduler that load contains.
func (n *node) included(scheduler string, incarnation int64) int64 {
	for i := range n.streams {
		st := &n.streams[i]
		if st.scheduler == scheduler && st.incarnation == incarnation && st.nodeIncarnation == n.Incarnation {
			return max(st.placedNumber, st.receivedNumber)
		}
	}
	return 0
}
