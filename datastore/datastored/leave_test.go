package datastored

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// A scheduler whose process is gone is found out by the next push: it is unregistered, what it had on
// its way leaves the aggregate, and nothing of it stays here.
func TestDeadSchedulerIsUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		dead, other := b.scheduler(t, "dead"), b.scheduler(t, "other")
		dead.flush(t, 7, "w1")
		other.flush(t, 3, "w1")
		dead.stop()
		other.flush(t, 10, "w1")
		if names := b.registered(t); !slices.Equal(names, []string{"other"}) {
			t.Errorf("registered: %v", names)
		}
		if n := b.net.connections("dead:1"); n != 0 {
			t.Errorf("%d connections to it are open", n)
		}
		other.flush(t, 10, "w1")
		pushed := other.snapshots()
		if last := pushed[len(pushed)-1]; len(pushed) != 3 || last.Load[0].Tasks != 23 || last.Decisions != 30 {
			t.Errorf("%d pushes, the last %+v; want 23 tasks after 30 decisions", len(pushed), last)
		}
		if _, err := b.client.Flush(t.Context(), dead.sum); !errors.Is(err, cluster.UnknownScheduler) {
			t.Errorf("its flush: %v, want unknown scheduler", err)
		}
	})
}

// A scheduler that does not answer is given up when that lasts for the node timeout.
func TestSilentSchedulerIsUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.NodeTimeout = 15 * time.Second })
		silent, other := b.scheduler(t, "silent"), b.scheduler(t, "other")
		gate := make(chan struct{})
		defer close(gate)
		silent.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		for i, want := range []int{2, 2, 2, 1} { // every call takes ten seconds, and the first fails at ten
			b.nodes(t, "w1")
			other.flush(t, 10, "w1")
			if names := b.registered(t); len(names) != want {
				t.Errorf("at %v: registered %v, want %d", time.Duration(10*i)*time.Second, names, want)
			}
			for range 5 {
				pass(2*time.Second - 2*datastore.TickEvery/5)
				other.check(t)
			}
		}
	})
}

// A data service that is cut off for less than three node timeouts gives nobody up, neither then nor when the workers come back one by one.
func TestWhoIsCutOffGivesNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.NodeTimeout = 2500 * time.Millisecond })
		s := b.scheduler(t, "s1")
		b.nodes(t, "w1", "w2", "w3")
		sequence := int64(0)
		report := func(names ...string) {
			sequence++
			for _, name := range names {
				if err := b.client.Report(t.Context(), cluster.Report{Node: name, Incarnation: 1, Sequence: sequence}); err != nil {
					t.Error(err)
				}
			}
		}
		pass(7 * time.Second)
		s.check(t)
		report("w1")
		pass(2 * time.Second)
		report("w1", "w2")
		pass(400 * time.Millisecond)
		report("w1", "w2", "w3")
		if status, err := b.client.Status(t.Context()); err != nil || len(status.Nodes) != 3 {
			t.Fatalf("%+v (%v), want three workers", status.Nodes, err)
		}
		for range 6 { // w3 has died
			pass(500 * time.Millisecond)
			report("w1", "w2")
		}
		if status, err := b.client.Status(t.Context()); err != nil || len(status.Nodes) != 2 {
			t.Errorf("%+v (%v), want the two that live", status.Nodes, err)
		}
	})
}

// A failure now and then is none that lasts.
func TestSchedulerThatRecoversStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.NodeTimeout = time.Minute })
		s := b.scheduler(t, "s1")
		s.forget(func(n int, _ *cluster.Snapshot) error {
			if n%2 == 1 {
				return cluster.Errorf(cluster.Overloaded, "later")
			}
			return nil
		})
		for range 6 {
			s.flush(t, 10, "w1")
			pass(50 * time.Second)
		}
		if names := b.registered(t); len(names) != 1 || len(s.snapshots()) != 6 {
			t.Errorf("registered %v after %d pushes", names, len(s.snapshots()))
		}
	})
}

// Another process at its address says STALE: the scheduler is gone.
func TestReplacedSchedulerIsUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		s := b.scheduler(t, "s1")
		s.forget(func(int, *cluster.Snapshot) error { return cluster.Errorf(cluster.Stale, "who?") })
		s.flush(t, 10, "w1")
		if names := b.registered(t); len(names) != 0 {
			t.Errorf("registered: %v", names)
		}
	})
}

// A scheduler that restarts takes its name along: the push that was under way ends, and its failure is
// not the new process's.
func TestRegisteringAgainReplacesThePusher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		old := b.scheduler(t, "s1")
		gate := make(chan struct{})
		defer close(gate)
		old.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		old.flush(t, 10, "w1")
		restarted := &fakeScheduler{ref: cluster.SchedulerRef{Name: "s1", Address: "s1:2", Incarnation: 2}, data: b.client,
			placed: map[string]cluster.Placed{}}
		restarted.serve(t, b.net.listen("s1:2"))
		restarted.register(t)
		synctest.Wait()
		if n := b.net.connections("s1:1"); n != 0 {
			t.Errorf("%d connections to the old process are open", n)
		}
		restarted.flush(t, 10, "w1")
		if pushed := restarted.snapshots(); len(pushed) != 1 || pushed[0].ReceiverIncarnation != 2 || pushed[0].BaseVersion != 0 {
			t.Errorf("the new process got %+v, want everything, for itself", pushed)
		}
		if n := len(old.snapshots()); n != 1 {
			t.Errorf("%d pushes to the old process, want the one that was under way", n)
		}
		if err := b.client.UnregisterScheduler(t.Context(), "s1", 1); err != nil {
			t.Fatal(err)
		}
		if names := b.registered(t); len(names) != 1 {
			t.Errorf("registered %v: the old process's good-bye is not the new one's", names)
		}
		if err := b.client.CheckScheduler(t.Context(), "s1", 1); !errors.Is(err, cluster.Stale) {
			t.Errorf("the old process is told %v, want stale", err)
		}
	})
}

// A push to the old process that was failing for long ends with it, and that is not the new one's end.
func TestAnOldFailureDoesNotEndTheNewProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.NodeTimeout = 15 * time.Second })
		old, other := b.scheduler(t, "s1"), b.scheduler(t, "s2")
		gate := make(chan struct{})
		defer close(gate)
		old.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		for range 3 { // the third is under way when the first failed 18 seconds ago
			other.flush(t, 10, "w1")
			pass(9500 * time.Millisecond)
		}
		if n := len(old.snapshots()); n != 3 {
			t.Fatalf("%d pushes to the old process, want the third under way", n)
		}
		old.ref.Incarnation = 2
		old.register(t)
		if names := b.registered(t); len(names) != 2 {
			t.Errorf("registered: %v, want the new process too", names)
		}
	})
}

// The same process may register twice, when an answer was lost.
func TestRegisteringTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		s := b.scheduler(t, "s1")
		s.register(t)
		s.flush(t, 10, "w1")
		if n := len(s.snapshots()); n != 1 || len(b.registered(t)) != 1 {
			t.Errorf("%d pushes for a batch to %v, want one", n, b.registered(t))
		}
		if err := b.client.CheckScheduler(t.Context(), "s1", 1); err != nil {
			t.Error(err)
		}
	})
}

func TestUnregisteredSchedulerGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		leaving, other := b.scheduler(t, "leaving"), b.scheduler(t, "other")
		other.flush(t, 10, "w1")
		if err := b.client.UnregisterScheduler(t.Context(), "leaving", 1); err != nil {
			t.Fatal(err)
		}
		other.flush(t, 10, "w1")
		if left, stayed := len(leaving.snapshots()), len(other.snapshots()); left != 1 || stayed != 2 {
			t.Errorf("%d pushes to who left after the first, %d to who stayed for both", left, stayed)
		}
		synctest.Wait()
		if n := b.net.connections("leaving:1"); n != 0 || len(b.registered(t)) != 1 {
			t.Errorf("%d connections to it, registered %v", n, b.registered(t))
		}
	})
}
