package sim

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A transcript of the prototype's fault: a delta's durations are never reset, so each flush adds everything
// that was ever placed on a node, until the node reports.
func TestDurationDrift(t *testing.T) {
	flush := func(node string, placed int64) *cluster.Delta {
		return &cluster.Delta{Placed: []cluster.Placed{{Node: node, Placed: cluster.Load{Tasks: 1, Duration: placed}}}}
	}
	d := newDrift([]cluster.Node{{Name: "a"}, {Name: "b"}})
	for _, step := range []struct {
		what    string
		happens func()
		a, b    int64 // D of the two nodes
	}{
		{"nothing", func() {}, 0, 0},
		{"a task of 10 s on a", func() { d.flushed(flush("a", 10)) }, 10, 0},
		{"one of 5 s: the prototype adds 10 again", func() { d.flushed(flush("a", 15)) }, 25, 0},
		{"the other node", func() { d.flushed(flush("b", 7)) }, 25, 7},
		{"a reports what it really has", func() { d.reported(&cluster.Report{Node: "a", Load: cluster.Load{Duration: 5}}) }, 5, 7},
		{"one of 1 s: the prototype adds all 16", func() { d.flushed(flush("a", 16)) }, 21, 7},
		{"a flush without placements", func() { d.flushed(&cluster.Delta{}) }, 21, 7},
		{"b is idle", func() { d.reported(&cluster.Report{Node: "b"}) }, 21, 0},
	} {
		step.happens()
		s := cluster.Snapshot{Node: []int32{1, 0}, Load: []cluster.Load{{Tasks: 2, Duration: 1}, {Tasks: 3, Duration: 2}}}
		d.distort(&s)
		if s.Load[1].Duration != step.a || s.Load[0].Duration != step.b || s.Load[0].Tasks != 2 || s.Load[1].Tasks != 3 {
			t.Fatalf("%s: loads %+v, want durations %d and %d and the rest as it was", step.what, s.Load, step.a, step.b)
		}
	}
}

// A snapshot's rows are numbered by its roster, from then on.
func TestDriftFollowsTheRoster(t *testing.T) {
	d := newDrift([]cluster.Node{{Name: "a"}, {Name: "b"}})
	d.flushed(&cluster.Delta{Placed: []cluster.Placed{{Node: "b", Placed: cluster.Load{Duration: 3}}}})
	s := cluster.Snapshot{Roster: &cluster.Roster{Nodes: []cluster.Node{{Name: "c"}, {Name: "a"}, {Name: "b"}}}, Node: []int32{2}, Load: make([]cluster.Load, 1)}
	d.distort(&s)
	next := cluster.Snapshot{Node: []int32{2, 0}, Load: make([]cluster.Load, 2)}
	d.distort(&next)
	if s.Load[0].Duration != 3 || next.Load[0].Duration != 3 || next.Load[1].Duration != 0 {
		t.Errorf("%+v, then %+v", s.Load, next.Load)
	}
}

// With the quirk, schedulers see durations that grow without bound; the accounts at the data service stay
// exact, and end at nothing.
func TestDriftIsInTheViewsAlone(t *testing.T) {
	for _, quirks := range [][]string{nil, {DurationDrift}} {
		cfg := tiny(t, "dodoor", 3).with(t, 200)
		cfg.Quirks, cfg.Store.Batch, cfg.Replica.DeltaBatch = quirks, 10, 2
		s := start(t, cfg)
		worst, exact := int64(0), true
		check := func() {
			for i, n := range s.data.store.Status(s.now).Nodes {
				exact = exact && n.Load.Duration == 1000*n.Load.Tasks
				worst = max(worst, s.schedulers[0].replica.View().Node(i).Load.Duration)
			}
		}
		s.every(100*time.Millisecond, check)
		if _, err := s.run(); err != nil {
			t.Fatal(err)
		}
		if err := s.audit(); err != nil {
			t.Errorf("quirks %v: %v", quirks, err)
		}
		if drifted := worst > 200_000; drifted != (len(quirks) > 0) || !exact {
			t.Errorf("quirks %v: a view of %d ms on one node, of 200 s in all; accounts exact: %v", quirks, worst, exact)
		}
		for _, n := range s.data.store.Status(s.now).Nodes {
			if !n.Load.IsZero() {
				t.Errorf("quirks %v: %+v is left", quirks, n.Load)
			}
		}
	}
}
