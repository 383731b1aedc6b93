package datastore_test

import (
	"slices"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// now is later than any time-out, so that a time since zero is none.
const now = time.Hour

// The smallest worker that can run anything has one slot and a thousandth of a core.
func TestTheSmallestWorkerIsAdmitted(t *testing.T) {
	s := newStore(t, datastore.Config{Batch: 1})
	n := workerNode("a", "a:1", 1)
	n.Slots, n.Capacity = 1, cluster.Resources{1}
	register(t, s, 0, n)
}

// A name is free for another address when its owner has been silent for exactly the node timeout; a worker that
// registers again at its address is no other.
func TestANameIsFreeAfterTheNodeTimeout(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  cluster.ErrorCode
	}{{time.Minute - 1, cluster.DuplicateNode}, {time.Minute, 0}} {
		s := newStore(t, datastore.Config{})
		register(t, s, now, workerNode("a", "a:1", 5))
		if err := s.RegisterNode(now, workerNode("a", "b:1", 5)); cluster.CodeOf(err) != cluster.DuplicateNode {
			t.Errorf("the same process number elsewhere: %v, want a duplicate", err)
		}
		hum(s, now, now+c.after)
		if err := s.RegisterNode(now+c.after, workerNode("a", "b:1", 6)); cluster.CodeOf(err) != c.want {
			t.Errorf("elsewhere after %v: %v, want %v", c.after, err, c.want)
		}
	}
}

// What changes nothing about who is there is not pushed to anybody.
func TestTheRosterChangesOnlyWithItsMembers(t *testing.T) {
	s := newStore(t, datastore.Config{MaxStaleness: time.Second})
	registerScheduler(t, s, "s", 1)
	register(t, s, now, workerNode("a", "a:1", 2))
	register(t, s, now, workerNode("b", "b:1", 2))
	deliver(t, s, now, s.Tick(now))
	for _, c := range []struct {
		what string
		do   func()
		want int
	}{
		{"a registers again", func() { register(t, s, now, workerNode("a", "a:1", 2)) }, 2},
		{"a's former process leaves", func() { s.UnregisterNode("a", 1) }, 2},
		{"a's next process leaves", func() { s.UnregisterNode("a", 3) }, 2},
		{"nobody leaves", func() { s.UnregisterNode("c", 2) }, 2},
		{"the staleness bound passes", func() {}, 2},
	} {
		c.do()
		if pushed := deliver(t, s, now+time.Second, s.Tick(now+time.Second)); pushed != 0 || s.Nodes() != c.want {
			t.Errorf("%s: %d pushes, %d workers, want none and %d", c.what, pushed, s.Nodes(), c.want)
		}
	}
	for i, want := range []int{1, 0} {
		s.UnregisterNode("a", 2)
		if pushed := deliver(t, s, now, s.Tick(now)); pushed != want || s.Nodes() != 1 {
			t.Errorf("a leaves, time %d: %d pushes, %d workers, want %d and 1", i+1, pushed, s.Nodes(), want)
		}
	}
	if left := s.Status(now).Nodes[0].Node.Name; left != "b" {
		t.Errorf("%s is left, want b", left)
	}
}

// A worker leaves the roster when it has been silent for longer than the node timeout.
func TestSilenceOfANodeTimeoutIsAllowed(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, now, workerNode("a", "a:1", 1))
	hum(s, now, now+time.Minute)
	if s.Tick(now + time.Minute); s.Nodes() != 1 {
		t.Error("gone after the node timeout")
	}
	if s.Tick(now + time.Minute + 1); s.Nodes() != 0 {
		t.Error("still there after more than the node timeout")
	}
}

// The accounts of a worker that left are kept for twenty node timeouts after its last sign of life.
func TestADepartedWorkersAccountsAreKept(t *testing.T) {
	for _, c := range []struct {
		away time.Duration
		want int64
	}{{20 * time.Minute, 3}, {20*time.Minute + 1, 0}} {
		s := newStore(t, datastore.Config{})
		registerScheduler(t, s, "s", 1)
		register(t, s, now, workerNode("a", "a:1", 1))
		flushAt(t, s, now, delta("s", 1, 3, placed("a", 1, 3)))
		s.UnregisterNode("a", 1)
		hum(s, now, now+c.away)
		s.Tick(now + c.away)
		register(t, s, now+c.away, workerNode("a", "a:1", 1))
		aggregate(t, s, now+c.away, "a", c.want)
	}
}

// What is kept of a scheduler that left, its decisions and its streams, is kept for twenty node timeouts after it
// was missed; of one that is there, for ever.
func TestADepartedSchedulersCountIsKept(t *testing.T) {
	for _, c := range []struct {
		away  time.Duration
		total int64 // after it returns and says 7
	}{{20 * time.Minute, 7 + 4}, {20*time.Minute + 1, 5 + 7 + 4}} {
		s := newStore(t, datastore.Config{})
		register(t, s, now, workerNode("a", "a:1", 1))
		registerScheduler(t, s, "s", 1)
		registerScheduler(t, s, "stays", 1)
		flushAt(t, s, now, delta("stays", 1, 4, placed("a", 1, 4)))
		flushAt(t, s, now, delta("s", 1, 5))
		s.UnregisterScheduler("s", 1)
		for _, at := range []time.Duration{now, now + c.away} {
			hum(s, now, at)
			report := &cluster.Report{Node: "a", Incarnation: 1, Sequence: int64(at)}
			if err := s.Report(at, report); err != nil {
				t.Fatal(err)
			}
			s.Tick(at)
		}
		aggregate(t, s, now+c.away, "a", 4)
		if err := s.CheckScheduler(now+c.away, "stays", 1); err != nil {
			t.Errorf("away %v: %v", c.away, err)
		}
		registerScheduler(t, s, "s", 1)
		if flushAt(t, s, now+c.away, delta("s", 1, 7)); s.Decisions() != c.total {
			t.Errorf("away %v: %d decisions, want %d", c.away, s.Decisions(), c.total)
		}
	}
}

// Nodes in the order of class and name are dealt out to the schedulers in turn, in whatever order they register.
func TestHomesAreDealtOutInOrder(t *testing.T) {
	for _, names := range [][]string{{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"c", "a", "d", "b"}} {
		s := newStore(t, datastore.Config{})
		registerScheduler(t, s, "s2", 1)
		for _, name := range names {
			n := workerNode(name, name+":1", 1)
			n.Class = map[string]string{"a": "small", "b": "large", "c": "large", "d": "large"}[name]
			register(t, s, 0, n)
		}
		roster := registerScheduler(t, s, "s1", 1).Roster
		got := map[string]string{}
		for i, n := range roster.Nodes {
			got[n.Name] = roster.Schedulers[roster.Home[i]]
		}
		for name, home := range map[string]string{"b": "s1", "c": "s2", "d": "s1", "a": "s2"} {
			if got[name] != home {
				t.Errorf("%v registered: the home of %s is %s, want %s", names, name, got[name], home)
			}
		}
	}
}

// The status says how long ago a worker was heard, and shows its report when there is one.
func TestStatusOfAWorker(t *testing.T) {
	s := newStore(t, datastore.Config{})
	register(t, s, now, workerNode("a", "a:1", 1))
	if a := s.Status(now + time.Second).Nodes[0]; a.Heard != time.Second || a.Report != nil {
		t.Errorf("%+v: want heard a second ago, no report", a)
	}
	received := []cluster.Received{{Scheduler: "s", Incarnation: 1, Number: 2}}
	report(t, s, 1, received...)
	if a := s.Status(now).Nodes[0]; a.Report == nil || a.Report.Sequence != 1 || !slices.Equal(a.Report.Received, received) {
		t.Errorf("%+v: want the first report", a)
	}
}

// The number of decisions that a delta may claim is bounded, the bound included.
func TestTheLargestClaim(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	if flush(t, s, delta("s", 1, 1<<50)); s.Decisions() != 1<<50 {
		t.Errorf("%d decisions, want 1<<50", s.Decisions())
	}
}

// The staleness bound runs from the last push.
func TestStalenessRunsFromTheLastPush(t *testing.T) {
	s := newStore(t, datastore.Config{MaxStaleness: time.Second})
	registerScheduler(t, s, "s", 1)
	register(t, s, now, workerNode("a", "a:1", 1))
	deliver(t, s, now, s.Tick(now))
	flush(t, s, delta("s", 1, 1, placed("a", 1, 1)))
	for _, after := range []time.Duration{time.Second - 1, time.Second} {
		if got, want := deliver(t, s, now+after, s.Tick(now+after)), int(after/time.Second); got != want {
			t.Errorf("%v after the last push: %d pushes, want %d", after, got, want)
		}
	}
}
