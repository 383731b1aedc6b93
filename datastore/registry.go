package datastore

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// RegisterNode admits a worker, or takes a worker's newer process in place of its old one. Repeating a
// registration changes nothing. It fails with cluster.DuplicateNode when another live process at
// another address has the name, and with cluster.Stale when a newer process is registered.
func (s *Store) RegisterNode(now time.Duration, n cluster.Node) error {
	if n.Capacity[cluster.Cores] <= 0 || n.Slots < 1 {
		return cluster.Errorf(cluster.Invalid, "worker %s: %d millicores and %d slots: it could run nothing", n.Name, n.Capacity[cluster.Cores],
			n.Slots)
	}
	heard := s.silence.hearWorker(now)
	have := s.nodeNamed(n.Name)
	if have.registered {
		switch {
		case n.Incarnation < have.Incarnation:
			return cluster.Errorf(cluster.Stale, "worker %s: a newer process (incarnation %d) is registered", n.Name, have.Incarnation)
		case n.Incarnation == have.Incarnation && n.Address == have.Address:
			have.seen, have.heard = now, heard
			return nil
		case n.Address != have.Address && s.silence.since(now, have.heard) < s.cfg.NodeTimeout:
			return cluster.Errorf(cluster.DuplicateNode, "a worker named %s is already running at %s; choose another name, or wait %v if it just "+
				"died",
				n.Name, have.Address, s.cfg.NodeTimeout)
		}
	} else {
		s.nodes = append(s.nodes, have)
	}
	if n.Incarnation != have.Incarnation {
		have.report = cluster.Report{}
	}
	have.Node, have.registered, have.seen, have.heard = n, true, now, heard
	s.touch(have)
	s.changeRoster()
	return nil
}

// UnregisterNode removes a worker; removing one that is not there changes nothing.
func (s *Store) UnregisterNode(name string, incarnation int64) {
	if n := s.byName[name]; n != nil && n.registered && n.Incarnation == incarnation {
		s.remove(n)
	}
}

// remove takes a node out of the roster. Its streams stay for a while, so that a worker that was only
// out of reach comes back to exact accounts.
func (s *Store) remove(n *node) {
	n.registered = false
	s.nodes = slices.DeleteFunc(s.nodes, func(m *node) bool { return m == n })
	s.changeRoster()
}

// oblivion is how many node timeouts after its last sign of life an unregistered node is forgotten.
const oblivion = 20

// expire unregisters silent nodes and forgets those that stayed away.
func (s *Store) expire(now time.Duration) {
	for i := len(s.nodes) - 1; i >= 0; i-- {
		if n := s.nodes[i]; s.silence.since(now, n.heard) > s.cfg.NodeTimeout {
			s.remove(n)
		}
	}
	for name, n := range s.byName {
		if n.heard == 0 {
			n.heard = s.silence.now(now)
		}
		if !n.registered && s.silence.since(now, n.heard) > oblivion*s.cfg.NodeTimeout {
			delete(s.byName, name)
		}
	}
	s.forgetSchedulers(now)
}

// forgetSchedulers drops what is kept of schedulers that stayed away: their share of the count, and their
// streams at every node.
func (s *Store) forgetSchedulers(now time.Duration) {
	for name, c := range s.counts {
		switch {
		case c.replica != nil:
		case c.gone == 0:
			c.gone = s.silence.now(now)
		case s.silence.since(now, c.gone) > oblivion*s.cfg.NodeTimeout:
			delete(s.counts, name)
			for _, n := range s.byName {
				n.forget(name)
			}
		}
	}
}

func (s *Store) nodeNamed(name string) *node {
	n := s.byName[name]
	if n == nil {
		n = &node{Node: cluster.Node{Name: name}}
		s.byName[name] = n
	}
	return n
}

func (s *Store) changeRoster() {
	s.rosterVersion++
	s.version++
	s.rosterDirty = true
}

// RegisterScheduler admits a replica and returns a whole snapshot for it. It fails like RegisterNode;
// liveness is not known here, so a newer process always replaces an older one.
func (s *Store) RegisterScheduler(ref cluster.SchedulerRef) (cluster.Snapshot, error) {
	c := s.counts[ref.Name]
	if c == nil {
		c = &counted{}
		s.counts[ref.Name] = c
	}
	if ref.Incarnation < c.incarnation && c.replica != nil {
		return cluster.Snapshot{}, cluster.Errorf(cluster.Stale, "scheduler %s: a newer process (incarnation %d) is registered", ref.Name,
			c.incarnation)
	}
	if ref.Incarnation != c.incarnation {
		s.withdraw(ref.Name) // nobody unregistered the old process
		c.incarnation, c.decisions = ref.Incarnation, 0
	}
	c.gone = 0
	if c.replica == nil {
		c.replica = &replica{}
		s.schedulers = append(s.schedulers, c.replica)
	}
	if c.replica.Incarnation == 0 {
		s.changeRoster() // the nodes' homes are dealt out again
	}
	s.registrations++
	*c.replica = replica{SchedulerRef: ref, registration: s.registrations} // pushes to the old one are nobody's
	var snap cluster.Snapshot
	s.fill(&snap, c.replica)
	return snap, nil
}

// UnregisterScheduler stops pushing to a replica and withdraws what it had on the way: if it died, that
// will never arrive; if it was only out of reach, it flushes everything again when it returns. It is false
// when this process is not registered.
func (s *Store) UnregisterScheduler(name string, incarnation int64) bool {
	c := s.counts[name]
	if c == nil || c.replica == nil || c.incarnation != incarnation {
		return false
	}
	s.schedulers = slices.DeleteFunc(s.schedulers, func(r *replica) bool { return r == c.replica })
	c.replica = nil
	s.changeRoster()
	s.withdraw(name)
	return true
}

// withdraw takes what a scheduler has on its way out of the aggregates.
func (s *Store) withdraw(scheduler string) {
	for _, n := range s.byName {
		if n.withdraw(scheduler) {
			s.touch(n)
		}
	}
}

// CheckScheduler fails with cluster.UnknownScheduler when this process is not registered, and with
// cluster.Stale when a newer process has its name.
func (s *Store) CheckScheduler(now time.Duration, name string, incarnation int64) error {
	s.silence.hear(now)
	c := s.counts[name]
	switch {
	case c == nil || c.replica == nil || c.incarnation < incarnation:
		return cluster.Errorf(cluster.UnknownScheduler, "scheduler %s (incarnation %d) is not registered", name, incarnation)
	case c.incarnation > incarnation:
		return cluster.Errorf(cluster.Stale, "scheduler %s: a newer process (incarnation %d) is registered", name, c.incarnation)
	}
	return nil
}
