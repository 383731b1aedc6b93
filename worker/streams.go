package worker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// MaxSchedulers bounds the schedulers that a node remembers. At the bound, one that the node holds
// nothing for makes room.
const MaxSchedulers = 4096

// stream is what this node knows of one scheduler process: how far its placements arrived, and their
// cumulative sum R (refused ones included), which equals the scheduler's own P at the
// same number by construction.
type stream struct {
	ref      cluster.SchedulerRef
	number   int64        // of the last placement received
	received cluster.Load // R at number
	heard    time.Duration
	active   int   // tasks queued or running
	replaced bool  // by a newer process of the same name that does not know what this one placed
	former   int64 // the highest number that may have come from earlier processes
	outbox   outbox
}

// streams holds one stream per scheduler name, in alphabetical order.
type streams []*stream

func (ss streams) search(name string) (int, bool) {
	return slices.BinarySearchFunc(ss, name, func(s *stream, name string) int { return strings.Compare(s.ref.Name, name) })
}

func (ss streams) find(name string) *stream {
	if i, ok := ss.search(name); ok {
		return ss[i]
	}
	return nil
}

// Attach is the handshake that opens or resumes a scheduler's stream. A newer process of a name takes
// the place of the older one and starts at number 0; what the older one placed stays and runs on, and if the newer one
// resumes, is its own: it is told how all that ends. Attach fails with cluster.Stale for an older process, with
// cluster.Overloaded beyond MaxSchedulers.
func (n *Node) Attach(now time.Duration, ref cluster.SchedulerRef) (cluster.AttachReply, Actions, error) {
	actions := n.begin()
	if ref.Name == "" || ref.Incarnation < 1 {
		return cluster.AttachReply{}, actions, cluster.Errorf(cluster.Invalid,
			"attach to %s: scheduler %q, incarnation %d: a name and a positive incarnation are needed",
			n.cfg.Node.Name, ref.Name, ref.Incarnation)
	}
	i, known := n.streams.search(ref.Name)
	switch {
	case !known:
		if err := n.makeRoom(); err != nil {
			return cluster.AttachReply{}, actions, err
		}
		i, _ = n.streams.search(ref.Name)
		n.streams = slices.Insert(n.streams, i, &stream{former: n.forgotten})
	case ref.Incarnation < n.streams[i].ref.Incarnation:
		return cluster.AttachReply{}, actions, cluster.Errorf(cluster.Stale, "scheduler %s: a newer process (incarnation %d) is attached to %s",
			ref.Name, n.streams[i].ref.Incarnation, n.cfg.Node.Name)
	case ref.Incarnation > n.streams[i].ref.Incarnation:
		n.succeed(i, &ref, &actions)
	}
	s := n.streams[i]
	s.ref, s.heard = ref, now
	return cluster.AttachReply{Incarnation: n.cfg.Node.Incarnation, Number: s.number, Report: *n.reportTo(now, s)}, n.done(&actions), nil
}

// succeed has a newer process of a scheduler take the place of the older one.
func (n *Node) succeed(i int, ref *cluster.SchedulerRef, actions *Actions) {
	s := n.streams[i]
	former := max(s.former, s.number)
	if !ref.Resumes {
		n.replace(s)
		n.streams[i] = &stream{former: former}
		return
	}
	s.number, s.received, s.former = 0, cluster.Load{}, former
	if s.outbox.waiting.len() > 0 {
		actions.notify(ref.Name)
	}
}

// replace sets a stream aside. Its completions join the orphans, in the order in which they expire.
func (n *Node) replace(s *stream) {
	s.replaced = true
	orphans := append(n.orphans.waiting.drain(), s.outbox.waiting.drain()...)
	slices.SortStableFunc(orphans, func(a, b ended) int { return cmp.Compare(a.at(), b.at()) })
	for _, e := range orphans {
		n.retain(&n.orphans, e)
	}
}

// makeRoom forgets, at the bound, the scheduler that was silent longest among those without tasks or
// completions here. Should it speak again, it attaches afresh and its next message restores R.
func (n *Node) makeRoom() error {
	if len(n.streams) < MaxSchedulers {
		return nil
	}
	idle := -1
	for i, s := range n.streams {
		if s.active == 0 && s.outbox.waiting.len() == 0 && (idle < 0 || s.heard < n.streams[idle].heard) {
			idle = i
		}
	}
	if idle < 0 {
		return cluster.Errorf(cluster.Overloaded, "node %s works for %d schedulers, its limit", n.cfg.Node.Name, MaxSchedulers)
	}
	n.forgotten = max(n.forgotten, n.streams[idle].number, n.streams[idle].former)
	n.streams = slices.Delete(n.streams, idle, idle+1)
	return nil
}

// attached returns the stream of exactly this scheduler process.
func (n *Node) attached(ref *cluster.SchedulerRef) (*stream, error) {
	s := n.streams.find(ref.Name)
	switch {
	case s == nil || s.ref.Incarnation < ref.Incarnation:
		return nil, cluster.Errorf(cluster.UnknownScheduler, "scheduler %s (incarnation %d) is not attached to %s", ref.Name, ref.Incarnation,
			n.cfg.Node.Name)
	case s.ref.Incarnation > ref.Incarnation:
		return nil, cluster.Errorf(cluster.Stale, "scheduler %s: a newer process (incarnation %d) is attached to %s", ref.Name, s.ref.Incarnation,
			n.cfg.Node.Name)
	}
	return s, nil
}
