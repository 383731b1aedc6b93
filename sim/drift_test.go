package sim

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A transcript of the prototype's fault: a scheduler sends the durations of all nodes with every flush and never
// resets any, so each flush adds everything that it ever placed, on every node, until that node reports.
func TestDurationDrift(t *testing.T) {
	flush := func(scheduler, node string, placed int64) *cluster.Delta {
		return &cluster.Delta{Scheduler: scheduler, Placed: []cluster.Placed{{Node: node, Placed: cluster.Load{Tasks: 1, Duration: placed}}}}
	}
	d := newDrift([]cluster.Node{{Name: "a"}, {Name: "b"}})
	for _, step := range []struct {
		what    string
		happens func()
		a, b    int64 // D of the two nodes
	}{
		{"nothing", func() {}, 0, 0},
		{"a task of 10 s on a", func() { d.flushed(flush("one", "a", 10)) }, 10, 0},
		{"one of 5 s: the prototype adds 10 again", func() { d.flushed(flush("one", "a", 15)) }, 25, 0},
		{"one of 7 s on the other node: all of a once more", func() { d.flushed(flush("one", "b", 7)) }, 40, 7},
		{"another scheduler knows of its own alone", func() { d.flushed(flush("two", "b", 2)) }, 40, 9},
		{"a reports what it really has", func() { d.reported(&cluster.Report{Node: "a", Load: cluster.Load{Duration: 5}}) }, 5, 9},
		{"one of 1 s on a: all 16, and 7 on b", func() { d.flushed(flush("one", "a", 16)) }, 21, 16},
		{"a flush without placements adds all the same", func() { d.flushed(&cluster.Delta{Scheduler: "one"}) }, 37, 23},
		{"b is idle", func() { d.reported(&cluster.Report{Node: "b"}) }, 37, 0},
		{"and is loaded again by a flush that does not touch it", func() { d.flushed(flush("one", "a", 17)) }, 54, 7},
	} {
		step.happens()
		s := cluster.Snapshot{Node: []int32{1, 0}, Load: []cluster.Load{{Tasks: 2, Duration: 1}, {Tasks: 3, Duration: 2}}}
		d.distort(&s)
		if s.Load[1].Duration != step.a || s.Load[0].Duration != step.b || s.Load[0].Tasks != 2 || s.Load[1].Tasks != 3 {
			t.Fatalf("%s: loads %+v, want durations %d and %d and the rest as it was", step.what, s.Load, step.a, step.b)
		}
	}
}

// A flush changes nodes of which the exact accounts know nothing new, so every view gets every node.
func TestDriftReachesEveryView(t *testing.T) {
	cfg := tiny(t, "dodoor", 3).with(t, 50)
	cfg.Quirks, cfg.Store.Batch, cfg.Replica.DeltaBatch = []string{DurationDrift}, 10, 2
	cfg.Heartbeat = time.Hour // no report changes the accounts once all tasks have ended
	s := start(t, cfg)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	push := func() {
		actions, _ := s.data.store.Settle(s.now)
		s.data.perform(actions)
		for enough := s.now + time.Second; s.now < enough && s.step(); {
		}
	}
	push() // and the last reports come in
	push()
	first := s.data.store.Status(s.now).Nodes[0].Node
	s.data.flushed(&message{delta: &cluster.Delta{Scheduler: cluster.SchedulerName(0), Incarnation: s.schedulers[0].ref.Incarnation,
		Decisions: 51,
		Placed: []cluster.Placed{{Node: first.Name, NodeIncarnation: first.Incarnation, Number: 51,
			Placed: cluster.Load{Tasks: 1, Duration: 1}}}}})
	push()
	for k, name := range s.data.drift.names {
		if got, want := s.schedulers[0].replica.View().Node(k).Load.Duration, s.data.drift.duration[name]; got != want || want == 0 {
			t.Errorf("the scheduler sees %d ms at %s, the fault has made %d of it", got, name, want)
		}
	}
}

// A snapshot's rows are numbered by its roster, from then on.
func TestDriftFollowsTheRoster(t *testing.T) {
	d := newDrift([]cluster.Node{{Name: "a"}, {Name: "b"}})
	d.flushed(&cluster.Delta{Placed: []cluster.Placed{{Node: "b", Placed: cluster.Load{Duration: 3}}}})
	s := cluster.Snapshot{Roster: &cluster.Roster{Nodes: []cluster.Node{{Name: "c"}, {Name: "a"}, {Name: "b"}}}, Node: []int32{2},
		Load: make([]cluster.Load, 1)}
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
