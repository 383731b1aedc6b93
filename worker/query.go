package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Probe answers how busy the node is: N and D of what it holds, queued included, as a report says them, and the
// median latency of recent tasks that found about N others.
func (n *Node) Probe(now time.Duration) cluster.ProbeReply {
	return cluster.ProbeReply{
		Tasks:   n.load.Tasks,
		Latency: n.latencies.median(n.load.Tasks),
		Pending: n.load.Duration + n.overruns.extra(now).Duration,
	}
}

// pageBytes is about as much as one answer holds, so that it fits into a message.
const pageBytes = 512 << 10

// Tasks answers a query for one task, for some, or for a page of what the node holds and the asker sees.
func (n *Node) Tasks(q cluster.TaskQuery) []cluster.TaskStatus {
	var found []cluster.TaskStatus
	size := 0
	list := func(t *task) (more bool) {
		s := n.status(t)
		found = append(found, s)
		size += s.Size()
		return size < pageBytes
	}
	switch {
	case q.ID != "":
		if t := n.seen(q.For, q.ID); t != nil {
			list(t)
		}
		return found
	case len(q.IDs) > 0:
		for _, id := range q.IDs {
			if t := n.seen(q.For, id); t != nil && !list(t) {
				break
			}
		}
		return found
	}
	for t := range n.held.listing.Behind(q.After) {
		if len(found) >= q.Max || t.asked(&q) && !list(t) {
			break
		}
	}
	return found
}

// asked tells whether a query is about a task.
func (t *task) asked(q *cluster.TaskQuery) bool {
	if !q.For.Sees(t.user) || q.Job != "" && (t.command == nil || t.command.Job != q.Job) {
		return false
	}
	if len(q.Answering) == 0 {
		return true
	}
	return !slices.ContainsFunc(t.owners, func(o owner) bool {
		return !o.stream.replaced && slices.Contains(q.Answering, o.stream.ref.Name)
	})
}

// seen returns a task that the node holds; nil: there is none for the asker.
func (n *Node) seen(by cluster.Asker, taskID string) *task {
	if t := n.held.byID[taskID]; t != nil && by.Sees(t.user) {
		return t
	}
	return nil
}

// Attempt returns which execution of a task the node holds; 0: none that the asker sees.
func (n *Node) Attempt(by cluster.Asker, taskID string) int {
	if t := n.seen(by, taskID); t != nil {
		return t.attempt
	}
	return 0
}

func (n *Node) status(t *task) cluster.TaskStatus {
	s := cluster.TaskStatus{ID: t.id, Type: t.prog.name, Mode: t.mode, Phase: t.phase, Node: n.cfg.Node.Name,
		Scheduler: t.owners[0].stream.ref.Name, Attempt: t.attempt, User: t.user}
	if t.command != nil && t.command.Job != "" {
		s.Job, s.Index = t.command.Job, t.command.Index
	}
	if t.phase == cluster.Queued {
		s.Ahead = int64(n.queue.ahead(t))
	}
	if t.phase == cluster.Ended {
		r := &cluster.TaskRecord{
			ID: t.id, Type: t.prog.name, Mode: t.mode, Scheduler: s.Scheduler,
			Worker: n.cfg.Node.Name, Class: n.cfg.Node.Class,
			Demand: t.shape.Demand, Estimate: t.shape.Duration, Attempts: t.attempt,
			Outcome: t.result.Outcome, ExitCode: t.result.ExitCode, Reason: t.result.Reason,
			Measured: t.result.Measured, User: t.user,
		}
		r.Wait, r.Run = t.intervals()
		s.Record = r
	}
	return s
}

// Stats is a node at a glance.
type Stats struct {
	Queued, Running int
	Unacknowledged  int // completions, those of replaced schedulers included
	Schedulers      int
	Draining        bool
	Capacity        cluster.Resources
	Reserved        cluster.Resources // by running tasks
	Load            cluster.Load      // of what it holds, by its estimates; what reports add for tasks past theirs is not in it
	Blocked         time.Duration     // cumulative head-of-line blocking
	Counts          Counts
}

// Stats returns the node's figures for people and gauges. Unlike Report it has no effect.
func (n *Node) Stats(now time.Duration) Stats {
	s := Stats{
		Queued: n.queue.len(), Running: n.ledger.running, Unacknowledged: n.orphans.waiting.len(),
		Schedulers: len(n.streams), Draining: n.draining,
		Capacity: n.ledger.capacity, Reserved: n.ledger.reserved, Load: n.load,
		Blocked: n.queue.blockedUntil(now), Counts: n.counts,
	}
	for _, stream := range n.streams {
		s.Unacknowledged += stream.outbox.waiting.len()
	}
	return s
}
