package datastore

import (
	"slices"
	"sort"
	"time"

	"dodoor/internal/cluster"
)

// Schedulers returns the registered replicas in order of registration.
func (s *Store) Schedulers() []cluster.SchedulerRef {
	refs := make([]cluster.SchedulerRef, len(s.schedulers))
	for i, r := range s.schedulers {
		refs[i] = r.SchedulerRef
	}
	return refs
}

// SnapshotFor returns what a replica lacks: the nodes that changed since the version it acknowledged,
// or everything when it has nothing yet or an older roster. It is false when the replica is gone.
func (s *Store) SnapshotFor(name string, incarnation int64) (snap cluster.Snapshot, ok bool) {
	return snap, s.FillSnapshot(&snap, name, incarnation)
}

// FillSnapshot is SnapshotFor into a snapshot that is not in use any more: its columns keep their memory.
func (s *Store) FillSnapshot(snap *cluster.Snapshot, name string, incarnation int64) bool {
	c := s.counts[name]
	if c == nil || c.replica == nil || c.incarnation != incarnation {
		return false
	}
	s.fill(snap, c.replica)
	return true
}

func (s *Store) fill(snap *cluster.Snapshot, r *replica) {
	*snap = cluster.Snapshot{
		Incarnation: s.cfg.Incarnation, Version: s.version, BaseVersion: r.version,
		RosterVersion: s.rosterVersion, Decisions: s.decisions, ReceiverIncarnation: r.Incarnation,
		Node: snap.Node[:0], Load: snap.Load[:0], ReportSequence: snap.ReportSequence[:0], OwnNumber: snap.OwnNumber[:0],
	}
	if r.version == 0 || r.rosterVersion != s.rosterVersion {
		snap.BaseVersion = 0
		snap.Roster = s.roster()
	}
	for i, n := range s.nodes {
		if n.changed <= snap.BaseVersion && snap.BaseVersion != 0 {
			continue
		}
		snap.Node = append(snap.Node, int32(i))
		snap.Load = append(snap.Load, n.load())
		snap.ReportSequence = append(snap.ReportSequence, n.report.Sequence)
		snap.OwnNumber = append(snap.OwnNumber, n.included(r.Name, r.Incarnation))
	}
}

func (s *Store) roster() *cluster.Roster {
	roster := &cluster.Roster{Version: s.rosterVersion, Nodes: make([]cluster.Node, len(s.nodes))}
	for i, n := range s.nodes {
		roster.Nodes[i] = n.Node
	}
	for _, r := range s.schedulers {
		roster.Schedulers = append(roster.Schedulers, r.Name)
	}
	sort.Strings(roster.Schedulers)
	roster.Home = homes(roster.Nodes, len(roster.Schedulers))
	return roster
}

// homes gives every node a home scheduler: nodes in the order of class and name are dealt out in turn,
// so that every scheduler gets its share of every class, and nodes keep their homes while neither the
// nodes nor the schedulers change.
func homes(nodes []cluster.Node, schedulers int) []int32 {
	if schedulers == 0 {
		return nil
	}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool {
		x, y := &nodes[order[a]], &nodes[order[b]]
		if x.Class != y.Class {
			return x.Class < y.Class
		}
		return x.Name < y.Name
	})
	home := make([]int32, len(nodes))
	for turn, i := range order {
		home[i] = int32(turn % schedulers)
	}
	return home
}

// Acknowledged notes that a replica has a snapshot; the next one builds on it.
func (s *Store) Acknowledged(name string, snap *cluster.Snapshot) {
	c := s.counts[name]
	if c != nil && c.replica != nil && c.incarnation == snap.ReceiverIncarnation && snap.Version > c.replica.version {
		c.replica.version, c.replica.rosterVersion = snap.Version, snap.RosterVersion
	}
}

// Forget makes the next snapshot for a replica a whole one: it does not have what was acknowledged.
func (s *Store) Forget(name string) {
	if c := s.counts[name]; c != nil && c.replica != nil {
		c.replica.version = 0
	}
}

// Status describes every node: the aggregate, the newest report and how long ago it was heard from.
func (s *Store) Status(now time.Duration) cluster.ClusterStatus {
	status := cluster.ClusterStatus{Version: s.version, Decisions: s.decisions, Schedulers: s.Schedulers()}
	for _, n := range s.nodes {
		entry := cluster.NodeStatus{Node: n.Node, Load: n.load(), Heard: now - n.heard}
		if n.report.Sequence > 0 {
			report := n.report
			report.Received = slices.Clone(report.Received)
			entry.Report = &report
		}
		status.Nodes = append(status.Nodes, entry)
	}
	return status
}
