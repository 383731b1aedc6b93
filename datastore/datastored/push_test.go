package datastored

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// "Every b decisions", cluster-wide, the data service pushes once to every scheduler (Sec. 4.1).
func TestPushAtEveryBatchBoundary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1", "w2")
		schedulers := []*fakeScheduler{b.scheduler(t, "s1"), b.scheduler(t, "s2"), b.scheduler(t, "s3")}
		pass(time.Minute)
		before := map[string]int{} // pushes of the nodes' homes, which every newcomer changes
		for _, s := range schedulers {
			before[s.ref.Name] = len(s.snapshots())
		}
		for _, step := range []struct {
			by        int
			decisions int64
			want      int // pushes so far
		}{{0, 9, 0}, {1, 1, 1}, {2, 9, 1}, {0, 25, 2}, {1, 5, 2}, {1, 1, 3}, {1, 9, 3}} {
			schedulers[step.by].flush(t, step.decisions, "w1")
			pass(time.Minute)
			for _, s := range schedulers {
				if n := len(s.snapshots()) - before[s.ref.Name]; n != step.want {
					t.Fatalf("%s got %d pushes after %d decisions, want %d", s.ref.Name, n, b.store.Decisions(), step.want)
				}
			}
		}
		if all := schedulers[0].snapshots(); all[len(all)-1].Decisions != 50 {
			last := all[len(all)-1]
			t.Errorf("the last push covers %d decisions, want 50", last.Decisions)
		}
	})
}

// A flush that is repeated counts once.
func TestRepeatedFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		s := b.scheduler(t, "s1")
		s.flush(t, 10, "w1")
		for range 5 {
			if _, err := b.client.Flush(t.Context(), s.sum); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.snapshots()); n != 1 {
			t.Errorf("%d pushes, want 1", n)
		}
	})
}

// After a snapshot was acknowledged the next one carries only the nodes that changed.
func TestSnapshotsAreIncremental(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1", "w2", "w3")
		s, other := b.scheduler(t, "s1"), b.scheduler(t, "s2")
		if w := s.whole; w.BaseVersion != 0 || w.Roster == nil || len(w.Node) != 3 || w.Incarnation != b.store.Incarnation() {
			t.Errorf("on registration: %+v, want everything", w)
		}
		s.flush(t, 10, "w1")
		s.flush(t, 5, "w2", "w3")
		other.flush(t, 10, "w2")
		pushed := s.snapshots()
		if len(pushed) != 3 {
			t.Fatalf("%d pushes, want 3", len(pushed))
		}
		if p := pushed[0]; p.BaseVersion != 0 || len(p.Node) != 3 {
			t.Errorf("first: %+v, want everything", p)
		}
		if p := pushed[1]; p.BaseVersion != pushed[0].Version || p.Roster != nil || !slices.Equal(p.Node, []int32{1, 2}) {
			t.Errorf("second: %+v, want w2 and w3 on top of the first", p)
		}
		p := pushed[2]
		if p.BaseVersion != pushed[1].Version || !slices.Equal(p.Node, []int32{1}) || !slices.Equal(p.OwnNumber, []int64{5}) ||
			p.Load[0].Tasks != 15 {
			t.Errorf("third: %+v, want w2 with 15 tasks, five of them s1's", p)
		}
	})
}

// A push that nobody acknowledged is built upon by nothing.
func TestAFailedPushIsCoveredByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1", "w2")
		s := b.scheduler(t, "s1")
		s.flush(t, 10, "w1")
		s.forget(func(n int, _ *cluster.Snapshot) error {
			if n == 1 {
				return cluster.Errorf(cluster.Overloaded, "later")
			}
			return nil
		})
		s.flush(t, 10, "w1")
		s.flush(t, 10, "w2")
		pushed := s.snapshots()
		if len(pushed) != 2 || pushed[1].BaseVersion != pushed[0].BaseVersion || !slices.Equal(pushed[1].Node, []int32{0, 1}) {
			t.Errorf("pushes %+v, want both nodes in the second", pushed)
		}
	})
}

// A scheduler without the base of a snapshot says GAP and gets everything, at once.
func TestGapIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1", "w2")
		s := b.scheduler(t, "s1")
		s.flush(t, 10, "w1")
		s.forget(func(_ int, p *cluster.Snapshot) error {
			if p.BaseVersion != 0 {
				return cluster.Errorf(cluster.Gap, "what base?")
			}
			return nil
		})
		s.flush(t, 9, "w1")
		if err := b.client.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		pushed := s.snapshots()
		if len(pushed) != 2 || pushed[1].BaseVersion != 0 || pushed[1].Roster == nil || len(pushed[1].Node) != 2 {
			t.Fatalf("pushes %+v, want a whole one after the gap", pushed)
		}
		s.forget(nil)
		s.flush(t, 1, "w1")
		if p := s.snapshots(); len(p) != 1 || p[0].BaseVersion != pushed[1].Version {
			t.Errorf("afterwards: %+v, want an increment", p)
		}
	})
}

// Even a scheduler that is never content is not pushed to without end.
func TestEndlessGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		s := b.scheduler(t, "s1")
		s.forget(func(int, *cluster.Snapshot) error { return cluster.Errorf(cluster.Gap, "more") })
		s.flush(t, 10, "w1")
		pass(time.Minute)
		if n := len(s.snapshots()); n != 2 {
			t.Errorf("%d pushes in one batch, want 2", n)
		}
	})
}

// A slow scheduler is skipped, not waited for: neither by who flushes nor by the others. What it gets in
// the end is the newest state.
func TestSlowSchedulerIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		slow, quick := b.scheduler(t, "slow"), b.scheduler(t, "quick")
		gate := make(chan struct{})
		slow.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		before := time.Now()
		for range 12 {
			quick.flush(t, 10, "w1")
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("flushing took %v", took)
		}
		if n := len(quick.snapshots()); n != 12 {
			t.Errorf("the other scheduler got %d pushes, want 12", n)
		}
		if n := len(slow.snapshots()); n != 1 {
			t.Errorf("%d pushes at once to one scheduler", n)
		}
		counts, err := b.client.Counters(t.Context())
		if err != nil || counts["skipped_pushes"] != 7 { // of twelve one is under way, and four wait
			t.Errorf("%d pushes skipped (%v), want 7", counts["skipped_pushes"], err)
		}
		close(gate)
		pushed := slow.snapshots()
		if last := pushed[len(pushed)-1]; len(pushed) != 5 || last.Decisions != 120 || pushed[1].Decisions != 120 {
			t.Errorf("%d pushes, the last of %d decisions; want 5 with the newest state", len(pushed), last.Decisions)
		}
	})
}
