package datastore

import (
	"cmp"
	"slices"
	"strings"
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

// fill makes a snapshot for a scheduler, and returns up to which version it then knows what others have told.
func (s *Store) fill(snap *cluster.Snapshot, r *replica) (told int64) {
	*snap = cluster.Snapshot{
		Incarnation: s.cfg.Incarnation, Version: s.version, BaseVersion: r.has.version,
		RosterVersion: s.rosterVersion, Decisions: s.decisions, ReceiverIncarnation: r.Incarnation,
		Node: snap.Node[:0], Load: snap.Load[:0], ReportSequence: snap.ReportSequence[:0], OwnNumber: snap.OwnNumber[:0],
		Experience: snap.Experience[:0],
	}
	if r.has.version == 0 || r.has.roster != s.rosterVersion {
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
	snap.Experience, told = s.told.fill(snap.Experience, r, r.has.told)
	return told
}

func (s *Store) roster() *cluster.Roster {
	roster := &cluster.Roster{Version: s.rosterVersion, Nodes: make([]cluster.Node, len(s.nodes))}
	for i, n := range s.nodes {
		roster.Nodes[i] = n.Node
	}
	for _, r := range s.schedulers {
		roster.Schedulers = append(roster.Schedulers, r.Name)
	}
	slices.Sort(roster.Schedulers)
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
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(nodes[a].Class, nodes[b].Class), strings.Compare(nodes[a].Name, nodes[b].Name))
	})
	home := make([]int32, len(nodes))
	for turn, i := range order {
		home[i] = int32(turn % schedulers)
	}
	return home
}

// Status describes every node: the aggregate, the newest report and how long ago it was heard from.
func (s *Store) Status(now time.Duration) cluster.ClusterStatus {
	status := cluster.ClusterStatus{Version: s.version, Decisions: s.decisions, Schedulers: s.Schedulers()}
	for _, n := range s.nodes {
		entry := cluster.NodeStatus{Node: n.Node, Load: n.load(), Heard: now - n.seen}
		if n.report.Sequence > 0 {
			report := n.report
			report.Received = slices.Clone(report.Received)
			entry.Report = &report
		}
		status.Nodes = append(status.Nodes, entry)
	}
	return status
}
