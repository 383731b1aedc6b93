package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// snapshot encodes the rows as one array per column, all cut from one allocation: as a map of
// structs, ten thousand nodes would take thirty thousand.
func (e encoder) snapshot(s *cluster.Snapshot) *dodoor.Snapshot {
	rows := len(s.Load)
	extras := e.dims.Extras()
	cells := make([]int64, rows*(6+len(extras)))
	column := func(cell func(l *cluster.Load) int64) []int64 {
		c := cells[:rows:rows]
		cells = cells[rows:]
		for j := range s.Load {
			c[j] = cell(&s.Load[j])
		}
		return c
	}
	w := &dodoor.Snapshot{
		Incarnation: &s.Incarnation, Version: &s.Version, BaseVersion: &s.BaseVersion,
		RosterVersion: &s.RosterVersion, Roster: e.roster(s.Roster), Decisions: &s.Decisions,
		ReceiverIncarnation: &s.ReceiverIncarnation,
		Node:                s.Node, ReportSequence: s.ReportSequence, OwnNumber: s.OwnNumber,
		Experience: e.experience(s.Experience, true),
		Millicores: column(func(l *cluster.Load) int64 { return l.Demand[cluster.Cores] }),
		MemoryMib:  column(func(l *cluster.Load) int64 { return l.Demand[cluster.Memory] }),
		DiskMib:    column(func(l *cluster.Load) int64 { return l.Demand[cluster.Disk] }),
		Tasks:      column(func(l *cluster.Load) int64 { return l.Tasks }),
		DurationMs: column(func(l *cluster.Load) int64 { return l.Duration }),
		Work:       column(func(l *cluster.Load) int64 { return l.Work }),
	}
	if len(extras) > 0 {
		w.Extra = make(map[string][]int64, len(extras))
	}
	for i, name := range extras {
		w.Extra[name] = column(func(l *cluster.Load) int64 { return l.Demand[cluster.FirstExtra+i] })
	}
	return w
}

// wholeSnapshot is a snapshot as a reply.
func (e encoder) wholeSnapshot(s cluster.Snapshot) *dodoor.Snapshot { return e.snapshot(&s) }

func (d *decoder) snapshot(w *dodoor.Snapshot) (s cluster.Snapshot) {
	if w == nil {
		d.missing("snapshot")
		return s
	}
	s.Incarnation = d.incarnation("incarnation", w.Incarnation)
	s.Version = d.count("version", w.Version)
	s.BaseVersion = d.between("base_version", w.BaseVersion, 0, s.Version)
	s.RosterVersion = d.count("roster_version", w.RosterVersion)
	s.Roster = d.roster(w.Roster)
	s.Decisions = d.count("decisions", w.Decisions)
	s.ReceiverIncarnation = d.incarnation("receiver_incarnation", w.ReceiverIncarnation)
	if s.Roster != nil && s.Roster.Version != s.RosterVersion {
		d.fail("roster.version", "is %d: must be roster_version, %d", s.Roster.Version, s.RosterVersion)
	}
	s.Experience = d.experience(w.Experience, true)
	d.rows(w, &s, d.length("node", len(w.Node), maxNodes))
	return s
}

// rows decodes the columns. Nothing is read before all are known to have the same length.
func (d *decoder) rows(w *dodoor.Snapshot, s *cluster.Snapshot, rows int) {
	columns := [...]struct {
		field string
		cells []int64
	}{
		{"millicores", w.Millicores}, {"memory_mib", w.MemoryMib}, {"disk_mib", w.DiskMib},
		{"tasks", w.Tasks}, {"duration_ms", w.DurationMs}, {"work", w.Work},
		{"report_sequence", w.ReportSequence}, {"own_number", w.OwnNumber},
	}
	for _, c := range columns {
		d.column(c.field, c.cells, rows)
	}
	for _, name := range d.dims.Extras() {
		d.column("extra."+name, w.Extra[name], rows)
	}
	unknownExtra(d, w.Extra)
	if d.err != nil || rows == 0 {
		return
	}
	s.Load = make([]cluster.Load, rows)
	for j := range s.Load {
		s.Load[j] = cluster.Load{
			Demand: cluster.Resources{w.Millicores[j], w.MemoryMib[j], w.DiskMib[j]},
			Tasks:  w.Tasks[j], Duration: w.DurationMs[j], Work: w.Work[j],
		}
	}
	for i, name := range d.dims.Extras() {
		for j, cell := range w.Extra[name] {
			s.Load[j].Demand[cluster.FirstExtra+i] = cell
		}
	}
	s.Node, s.ReportSequence, s.OwnNumber = w.Node, w.ReportSequence, w.OwnNumber
	d.rowNumbers(s)
}

func (d *decoder) column(field string, cells []int64, rows int) {
	if len(cells) != rows {
		d.fail(field, "has %d entries: must have %d, as node has", len(cells), rows)
	}
}

// rowNumbers checks the columns that are not loads. Node indices are checked against the roster that
// came along; otherwise the receiver knows which one is meant.
func (d *decoder) rowNumbers(s *cluster.Snapshot) {
	nodes := int64(math.MaxInt32)
	if s.Roster != nil {
		nodes = int64(len(s.Roster.Nodes))
	}
	for j := range s.Node {
		if n := int64(s.Node[j]); n < 0 || n >= nodes {
			d.fail("node", "holds %d in row %d: must be a roster index from 0 to %d", n, j, nodes-1)
		}
		if s.ReportSequence[j] < 0 {
			d.fail("report_sequence", "holds %d in row %d: must be at least 0", s.ReportSequence[j], j)
		}
		if s.OwnNumber[j] < 0 {
			d.fail("own_number", "holds %d in row %d: must be at least 0", s.OwnNumber[j], j)
		}
	}
}
