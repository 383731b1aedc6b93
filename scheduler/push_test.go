package scheduler

import (
	"testing"

	"dodoor/internal/cluster"
)

// A snapshot that is not newer changes nothing; another process of the data service starts its versions afresh.
func TestOldSnapshotsChangeNothing(t *testing.T) {
	nodes := paperNodes(1)
	r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
	for _, c := range []struct {
		service, version, tasks, want int64
	}{{1, 5, 10, 10}, {1, 5, 20, 10}, {1, 4, 30, 10}, {1, 6, 40, 40}, {2, 1, 50, 50}, {2, 1, 60, 50}} {
		s := snapshotOf(c.version, nodes, []cluster.Load{{Tasks: c.tasks}})
		s.Incarnation = c.service
		if _, err := r.Push(0, s); err != nil {
			t.Fatal(err)
		}
		if got := r.View().Node(0).Load.Tasks; got != c.want {
			t.Errorf("snapshot %d of process %d: the view has %d tasks, want %d", c.version, c.service, got, c.want)
		}
	}
}

// A snapshot whose columns differ in length, or that describes a node outside its roster, is refused and changes
// nothing; one that builds on what the replica has not got is a gap.
func TestSnapshotsAreChecked(t *testing.T) {
	nodes := paperNodes(2)
	for _, c := range []struct {
		what   string
		change func(s *cluster.Snapshot)
		want   cluster.ErrorCode
	}{
		{"complete", func(*cluster.Snapshot) {}, 0},
		{"too few loads", func(s *cluster.Snapshot) { s.Load = s.Load[:1] }, cluster.Invalid},
		{"too few own numbers", func(s *cluster.Snapshot) { s.OwnNumber = s.OwnNumber[:1] }, cluster.Invalid},
		{"too few report numbers", func(s *cluster.Snapshot) { s.ReportSequence = s.ReportSequence[:1] }, cluster.Invalid},
		{"too few nodes", func(s *cluster.Snapshot) { s.Node = s.Node[:1] }, cluster.Invalid},
		{"a node before the roster", func(s *cluster.Snapshot) { s.Node[0] = -1 }, cluster.Invalid},
		{"the last node of the roster", func(s *cluster.Snapshot) { s.Node[0] = 1 }, 0},
		{"a node behind the roster", func(s *cluster.Snapshot) { s.Node[1] = 2 }, cluster.Invalid},
		{"built on what it has", func(s *cluster.Snapshot) { s.BaseVersion = 1 }, 0},
		{"built on what it has not", func(s *cluster.Snapshot) { s.BaseVersion = 2 }, cluster.Gap},
		{"built on another process's", func(s *cluster.Snapshot) { s.BaseVersion, s.Incarnation = 1, 2 }, cluster.Gap},
		{"without the roster that it has", func(s *cluster.Snapshot) { s.Roster, s.RosterVersion = nil, 1 }, 0},
		{"without the roster", func(s *cluster.Snapshot) { s.Roster = nil }, cluster.Gap},
		{"without the roster, of another process", func(s *cluster.Snapshot) { s.Roster, s.RosterVersion, s.Incarnation = nil, 1, 2 },
			cluster.Gap},
		{"for another process", func(s *cluster.Snapshot) { s.ReceiverIncarnation++ }, cluster.Stale},
	} {
		r := replicaWith(t, testConfig(), paperPolicy(t), nodes)
		s := snapshotOf(3, nodes, []cluster.Load{{Tasks: 1}, {Tasks: 1}})
		c.change(s)
		_, err := r.Push(0, s)
		if changed := r.Statistics().ViewVersion == 3; cluster.CodeOf(err) != c.want || changed != (c.want == 0) {
			t.Errorf("%s: %v, applied %v; want %v", c.what, err, changed, c.want)
		}
	}
}

// The share is what this replica placed between two snapshots, of what everybody did.
func TestShareBetweenSnapshots(t *testing.T) {
	nodes := paperNodes(1)
	r := replicaWith(t, testConfig(), asking{paperPolicy(t), Wants{Loads: Snapshots, Homes: true}}, nodes)
	push := func(version, decisions int64) float64 {
		s := snapshotOf(version, nodes, make([]cluster.Load, 1))
		s.Decisions = decisions
		if _, err := r.Push(0, s); err != nil {
			t.Fatal(err)
		}
		return r.View().Share
	}
	for _, id := range []string{"a", "b"} {
		submit(t, r, 0, request(id, 1, 1, 1))
	}
	if got := push(2, 8); got != 0.25 {
		t.Errorf("2 of 8: share %v", got)
	}
	for _, id := range []string{"c", "d", "e", "f"} {
		submit(t, r, 0, request(id, 1, 1, 1))
	}
	if got, want := push(3, 16), 0.25+0.3*0.25; got != want {
		t.Errorf("4 of the next 8: share %v, want %v", got, want)
	}
}
