package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// Push applies a snapshot (Algorithm 1, lines 8-9): the rows replace what the view held about their
// nodes. A snapshot that is not newer than the view changes nothing. It fails with cluster.Gap when the
// snapshot builds on one that this replica does not have, and with cluster.Stale when it was meant for
// an earlier process of this name.
func (r *Replica) Push(now time.Duration, s *cluster.Snapshot) (*Actions, error) {
	r.begin()
	if s.ReceiverIncarnation != r.cfg.Incarnation {
		return &r.actions, cluster.Errorf(cluster.Stale, "snapshot %d is for incarnation %d of scheduler %s; this is %d",
			s.Version, s.ReceiverIncarnation, r.cfg.Name, r.cfg.Incarnation)
	}
	if s.Roster != nil {
		for i := range s.Roster.Nodes {
			r.catalog.Class(s.Roster.Nodes[i].Class)
		}
	}
	r.experience.merge(s.Experience)
	if s.Incarnation == r.service && s.Version <= r.version {
		return &r.actions, nil
	}
	if err := r.checkBase(s); err != nil {
		return &r.actions, err
	}
	if s.Incarnation != r.service {
		if r.service != 0 {
			r.Resync()
			r.grace = now + r.cfg.RosterGrace
		}
		r.service = s.Incarnation
	}
	if s.Roster != nil {
		r.applyRoster(now, s.Roster)
		r.fresh.first = true
	} else {
		r.fresh.observe(now - r.view.Fresh)
	}
	for j, position := range s.Node {
		r.applyRow(r.nodes.roster[position], s.Load[j], s.OwnNumber[j], s.ReportSequence[j])
	}
	r.renewed(s.BaseVersion != 0)
	r.version = s.Version
	if r.wants.Homes {
		r.view.observeShare(r.decisions-r.applied, s.Decisions-r.view.Decisions)
	}
	r.view.Decisions, r.view.Fresh, r.applied = s.Decisions, now, r.decisions
	if s.Roster != nil {
		r.retryUnplaced(now)
	}
	return &r.actions, nil
}

func (r *Replica) checkBase(s *cluster.Snapshot) error {
	if s.BaseVersion != 0 && (s.Incarnation != r.service || s.BaseVersion > r.version) {
		return cluster.Errorf(cluster.Gap, "snapshot %d builds on %d; scheduler %s has %d", s.Version, s.BaseVersion, r.cfg.Name, r.version)
	}
	size := len(r.nodes.roster)
	if s.Roster != nil {
		size = len(s.Roster.Nodes)
	} else if s.Incarnation != r.service || s.RosterVersion != r.nodes.version {
		return cluster.Errorf(cluster.Gap, "snapshot %d is against roster %d; scheduler %s has %d", s.Version, s.RosterVersion, r.cfg.Name,
			r.nodes.version)
	}
	if len(s.Load) != len(s.Node) || len(s.OwnNumber) != len(s.Node) || len(s.ReportSequence) != len(s.Node) {
		return cluster.Errorf(cluster.Invalid, "snapshot %d: columns of %d, %d, %d and %d rows",
			s.Version, len(s.Node), len(s.Load), len(s.OwnNumber), len(s.ReportSequence))
	}
	for _, position := range s.Node {
		if position < 0 || int(position) >= size {
			return cluster.Errorf(cluster.Invalid, "snapshot %d: row for node %d of a roster of %d", s.Version, position, size)
		}
	}
	return nil
}

// applyRow takes one node's aggregate. With self-correction the own placements that the row does not
// include stay on top of it. Before the data service hears of a process that the handshake has found, its
// rows are about the former one: numbers of another stream, reports of another sequence.
func (r *Replica) applyRow(index int, load cluster.Load, own, sequence int64) {
	n := &r.nodes.slots[index]
	switch {
	case n.rowsOf != n.Incarnation:
		return
	case n.drift.adrift && sequence < n.drift.reported:
		return // a restarted data service has not heard the worker yet
	}
	n.drift.reported = sequence
	switch {
	case r.Riders() && sequence < n.sequence: // a rider brought a newer report
		r.exact(index, r.view.nodes[index].Load)
		return
	case r.Riders():
		n.sequence = sequence // a later rider may include fewer own placements: they are kept
	case r.cfg.SelfCorrection:
		n.stream.forget(own)
	}
	if r.cfg.SelfCorrection {
		load = load.Add(n.stream.above(own))
	}
	r.exact(index, load)
}

// ride takes a report that came with a message that was sent anyway. The view of a node is its newest
// report, whichever way it came, plus the own placements that the report does not contain.
func (r *Replica) ride(index int, report *cluster.Report) {
	if !r.Riders() || report == nil {
		return
	}
	n, ok := r.nodes.at(index, report.Incarnation)
	if !ok || report.Node != n.Name {
		return
	}
	for i := range report.Received {
		own := &report.Received[i]
		if own.Scheduler != r.cfg.Name || own.Incarnation != r.cfg.Incarnation {
			continue
		}
		n.stream.forget(own.Number)
		if report.Sequence > n.sequence {
			n.sequence = report.Sequence
			r.settle(index, report.Load.Add(n.stream.above(own.Number)))
		}
	}
}

// applyRoster makes the roster's nodes the known ones: newcomers become candidates, restarted workers
// start a new stream, and those that are missing are asked. A data service that has just restarted does not know
// its workers yet, so none of them is missed within the grace.
func (r *Replica) applyRoster(now time.Duration, roster *cluster.Roster) {
	r.nodes.roster = r.nodes.roster[:0]
	for i := range r.nodes.slots {
		r.nodes.slots[i].listed = false
	}
	var losses []loss
	for _, n := range roster.Nodes {
		index, known := r.nodes.byName[n.Name]
		if !known {
			index = r.nodes.add(n)
			class := r.catalog.Class(n.Class)
			r.nodes.slots[index].id = r.workers.id(n.Name, class)
			r.view.set(index, n.Name, class, n.Capacity, n.Slots)
			r.actions.Connect = append(r.actions.Connect, index)
		}
		r.nodes.roster = append(r.nodes.roster, index)
		if known && r.updateNode(index, n) {
			losses = append(losses, r.restartNode(index, n))
		}
		r.nodes.list(index, n.Incarnation)
	}
	r.nodes.version = roster.Version
	r.assignHomes(roster)
	r.setAdrift(func(index int) bool { return !r.nodes.slots[index].listed })
	if now >= r.grace {
		losses = append(losses, r.missUnlisted(now)...)
	}
	r.replaceLost(now, losses)
}

// updateNode takes what the roster says about a known worker, and reports whether it restarted.
func (r *Replica) updateNode(index int, n cluster.Node) (restarted bool) {
	have := &r.nodes.slots[index]
	if n.Incarnation == have.Incarnation {
		have.Draining = n.Draining
	}
	return n.Incarnation > have.Incarnation
}

// assignHomes notes which nodes the roster gives this replica for its home.
func (r *Replica) assignHomes(roster *cluster.Roster) {
	r.view.Schedulers = len(roster.Schedulers)
	for position, index := range r.nodes.roster {
		home := NoNode
		if len(roster.Home) > 0 {
			home = int(roster.Home[position])
		}
		r.view.nodes[index].Home = home >= 0 && roster.Schedulers[home] == r.cfg.Name
	}
}

func (r *Replica) refreshCandidates() {
	r.nodes.changes++
	r.view.refresh(
		func(i int) bool { return r.nodes.slots[i].present },
		r.nodes.takesPlacements)
}
