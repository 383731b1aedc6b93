package scheduler

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// A view is stale when it is as old as somebody set, or as four usual distances of pushes and two seconds, and the
// data service is away; nothing is usual before the second batch after a roster.
func TestWhenAViewIsStale(t *testing.T) {
	for _, c := range []struct {
		set, distance time.Duration
		pushes        int
		want          time.Duration // 0: never
	}{
		{0, time.Second, 0, 0},
		{0, time.Second, 3, 4 * time.Second},
		{0, 100 * ms, 9, 2 * time.Second},
		{300 * ms, time.Second, 3, 300 * ms},
		{300 * ms, time.Second, 0, 300 * ms},
	} {
		cfg := testConfig()
		cfg.StaleAfter = c.set
		nodes := paperNodes(2)
		r := replicaWith(t, cfg, paperPolicy(t), nodes)
		data := Flusher{Replica: r}
		now := time.Duration(0)
		for i := range c.pushes {
			now += c.distance
			brought(t, r, now, int64(2+i), nil, nil)
		}
		for _, age := range []time.Duration{c.want - 1, c.want, time.Hour} {
			data.Registered(1)
			if r.Tick(now + age); age <= c.want && r.Statistics().Stale {
				t.Errorf("%+v: stale after %v, and the data service is there", c, age)
			}
			data.Registered(0)
			r.Tick(now + age)
			if got, want := r.Statistics().Stale, c.want > 0 && age >= c.want; got != want {
				t.Errorf("%+v: stale after %v: %v", c, age, got)
			}
		}
		if c.pushes > 0 {
			if brought(t, r, now+time.Hour, 100, nil, nil); r.Statistics().Stale {
				t.Errorf("%+v: stale with a new snapshot", c)
			}
			if got := r.fresh.limit(); c.pushes > 1 && got != c.want {
				t.Errorf("%+v: after an outage %v are too old", c, got)
			}
		}
	}
}

// Neither the time until the first batch after a roster nor a single idle time is usual.
func TestIdleTimesAreNotUsual(t *testing.T) {
	for _, f := range []freshness{{}, {first: true}} {
		f.observe(time.Hour)
		f.observe(100 * ms)
		if got := f.limit(); got != 2*time.Second {
			t.Errorf("after %v: a view is stale after %v", f.distances, got)
		}
	}
}

// A view that corrects itself never counts as stale.
func TestACorrectedViewIsNotStale(t *testing.T) {
	cfg := testConfig()
	cfg.StaleAfter, cfg.SelfCorrection = time.Second, true
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(1))
	(&Flusher{Replica: r}).Registered(0)
	if r.Tick(time.Hour); r.Statistics().Stale {
		t.Error("it is")
	}
}

// brought applies a snapshot that a batch brought, with these rows.
func brought(t testing.TB, r *Replica, now time.Duration, version int64, node []int32, load []cluster.Load) {
	s := &cluster.Snapshot{Incarnation: 1, Version: version, BaseVersion: version - 1, RosterVersion: r.nodes.version,
		ReceiverIncarnation: testIncarnation, Node: node, Load: load,
		OwnNumber: make([]int64, len(node)), ReportSequence: make([]int64, len(node))}
	if version == 100 {
		s.BaseVersion = r.version
	}
	if _, err := r.Push(now, s); err != nil {
		t.Fatal(err)
	}
}

// A stale view shows the own tasks that have not ended, times the number of schedulers; a restarted data service that has
// not heard a worker yet does not end that for it.
func TestAStaleViewShowsOwnTasks(t *testing.T) {
	cfg := testConfig()
	cfg.StaleAfter = time.Second
	nodes := paperNodes(1)
	r := replicaWith(t, cfg, paperPolicy(t), nodes)
	whole := snapshotOf(2, nodes, []cluster.Load{{Tasks: 50}})
	whole.Roster.Schedulers, whole.ReportSequence[0] = []string{"s1", "s2", "s3"}, 7
	if _, err := r.Push(0, whole); err != nil {
		t.Fatal(err)
	}
	view := func(what string, want int64) {
		t.Helper()
		if got := r.View().Node(0).Load.Tasks; got != want {
			t.Errorf("%s: %d tasks, want %d", what, got, want)
		}
	}
	early := submit(t, r, 0, request("early", 1, 1, 1))
	acknowledge(r, 0, early)
	view("the snapshot alone", 50)
	r.fresh.away = true
	r.Tick(time.Second)
	view("one task at three schedulers", 3)
	submit(t, r, time.Second, request("late", 1, 1, 1))
	view("two", 6)
	finish(t, r, time.Second, early, cluster.Finished)
	view("one has ended", 3)
	restarted := snapshotOf(1, nodes, []cluster.Load{{}})
	restarted.Incarnation = 2
	if _, err := r.Push(2*time.Second, restarted); err != nil {
		t.Fatal(err)
	}
	view("the data service has not heard the worker", 3)
	restarted = snapshotOf(2, nodes, []cluster.Load{{Tasks: 9}})
	restarted.Incarnation, restarted.ReportSequence[0] = 2, 8
	if _, err := r.Push(2*time.Second, restarted); err != nil {
		t.Fatal(err)
	}
	view("now it has", 9)
}

// With the next snapshot nothing is left of what a stale view showed: the view is that of a replica that never looked at
// its age. One that corrects itself does so in both cases.
func TestStaleViewsLeaveNoResidue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := paperNodes(3)
		var pair [2]*Replica
		corrects := rapid.Bool().Draw(rt, "corrects")
		for i := range pair {
			cfg := testConfig()
			cfg.SelfCorrection = corrects
			cfg.StaleAfter = []time.Duration{time.Second, 1000 * time.Hour}[i]
			pair[i] = replicaWith(t, cfg, firstOfMany{}, nodes)
			pair[i].fresh.away = true
		}
		now, version := time.Duration(0), int64(1)
		var open [2][]Dispatch
		for step := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			now += time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * ms
			what := rapid.IntRange(0, 3).Draw(rt, "what")
			pick := rapid.IntRange(0, 1000).Draw(rt, "which")
			version++
			for i, r := range pair {
				r.Tick(now)
				switch {
				case what == 0:
					open[i] = append(open[i], submit(t, r, now, request(fmt.Sprint(step), 1, 1, int64(pick))))
				case what == 1 && len(open[i]) > 0:
					at := pick % len(open[i])
					finish(t, r, now, open[i][at], cluster.Finished)
					open[i] = append(open[i][:at:at], open[i][at+1:]...)
				case what == 2:
					load := []cluster.Load{{Tasks: int64(pick), Duration: int64(pick)}}
					s := &cluster.Snapshot{Incarnation: 1, Version: version, BaseVersion: r.version, RosterVersion: r.nodes.version,
						ReceiverIncarnation: testIncarnation, Node: []int32{int32(pick % 3)}, Load: load, OwnNumber: []int64{0},
						ReportSequence: []int64{version}}
					if _, err := r.Push(now, s); err != nil {
						rt.Fatal(err)
					}
				}
			}
			if what != 2 {
				continue
			}
			for i := range nodes {
				if a, b := pair[0].View().Node(i).Load, pair[1].View().Node(i).Load; a != b {
					rt.Fatalf("%s: %+v, want %+v", nodes[i].Name, a, b)
				}
			}
		}
	})
}

// firstOfMany places by the task alone, so that what a view shows changes nothing.
type firstOfMany struct{}

func (firstOfMany) Submit(_ time.Duration, t *cluster.Task, v *View) Decision {
	return Decision{Place: []Placement{{Task: t, Node: int(v.Candidates()[int(t.Seed%uint64(len(v.Candidates())))])}}}
}
func (firstOfMany) Wants() Wants { return Wants{Loads: Snapshots} }
