package worker

import (
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Every placement is counted once, as accepted, repeated or refused, and every execution by its outcome.
func TestCounts(t *testing.T) {
	n := newNode(t)
	r, s := attach(t, n, "r", 1), attach(t, n, "s", 1)
	a, b := s.place("a", shape(1, 1, 1)), s.place("b", shape(1, 1, 1))
	wrong := s.place("wrong", shape(1, 1, 1))
	wrong.Type = "unknown"
	for range 2 { // the answer to the first one is lost
		if _, _, err := n.Enqueue(0, s.message(n, a, b, wrong)); err != nil {
			t.Fatal(err)
		}
	}
	r.enqueue(t, n, 0, "a", shape(1, 1, 1)) // its client tried again
	finished(n, 1, "a")
	n.Finished(1, "b", Result{Outcome: cluster.Failed})
	got := n.Stats(1).Counts
	want := Counts{Accepted: 2, Repeated: 3, Refused: 2}
	want.Refusals[cluster.UnknownType], want.Refusals[cluster.NotHeld] = 1, 1
	want.Outcomes[cluster.Finished], want.Outcomes[cluster.Failed] = 1, 1
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A demand, an estimate and a time scale may reach their bounds.
func TestLargestAssignments(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(*cluster.Assignment)
		want cluster.RefusalCode // 0: none
	}{
		{"the longest estimate", func(a *cluster.Assignment) { a.Shape.Duration = cluster.MaxDuration }, 0},
		{"the fastest time", func(a *cluster.Assignment) { a.TimeScale = cluster.MaxTimeScale }, 0},
		{"faster than that", func(a *cluster.Assignment) { a.TimeScale = cluster.MaxTimeScale * 2 }, cluster.InvalidTask},
		{"the largest demand", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Memory] = cluster.MaxAmount }, cluster.NeverFits},
		{"the first dimension without a name", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Standard().Len()] = 1 }, cluster.InvalidTask},
	} {
		n := newNode(t)
		s := attach(t, n, "s", 1)
		a := s.place("t", shape(1, 1, 1))
		c.edit(&a)
		reply, _, err := n.Enqueue(0, s.message(n, a))
		if err != nil || (len(reply.Refused) == 0) != (c.want == 0) || c.want != 0 && reply.Refused[0].Code != c.want {
			t.Errorf("%s: %+v, %v; want %v", c.what, reply.Refused, err, c.want)
		}
	}
}

// A task is the same for a second scheduler when everything that it asks for is; else its id is taken. Cores and memory may be
// learned, so two schedulers may think differently of those.
func TestWhatMakesTasksTheSame(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(*cluster.Assignment)
		same bool
	}{
		{"the same", func(*cluster.Assignment) {}, true},
		{"another type", func(a *cluster.Assignment) { a.Type = "real" }, false},
		{"another mode", func(a *cluster.Assignment) { a.Mode = "long" }, false},
		{"other cores", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Cores]++ }, true},
		{"other memory", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Memory]++ }, true},
		{"another disk", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Disk]++ }, false},
		{"another time scale", func(a *cluster.Assignment) { a.TimeScale = 2 }, false},
	} {
		n := newNode(t)
		attach(t, n, "r", 1).enqueue(t, n, 0, "t", shape(1, 1, 1))
		s := attach(t, n, "s", 1)
		a := s.place("t", shape(1, 1, 1))
		c.edit(&a)
		reply, _, err := n.Enqueue(0, s.message(n, a))
		if err != nil || (len(reply.Refused) == 0) != c.same || !c.same && reply.Refused[0].Code != cluster.DuplicateTask {
			t.Errorf("%s: %+v, %v; same: %v", c.what, reply.Refused, err, c.same)
		}
	}
}

// A scheduler that has acknowledged a task's end owns it no longer; the others do.
func TestOwnersLeaveOneByOne(t *testing.T) {
	n := newNode(t)
	r, s := attach(t, n, "r", 1), attach(t, n, "s", 1)
	r.enqueue(t, n, 0, "t", shape(1, 1, 1))
	s.enqueue(t, n, 0, "t", shape(1, 1, 1))
	finished(n, 1, "t")
	for i, owner := range []string{"r", "s"} {
		if got := n.Tasks(cluster.TaskQuery{ID: "t"}); len(got) != 1 || got[0].Scheduler != owner {
			t.Errorf("%d have acknowledged: %+v, want it to be of %s", i, got, owner)
		}
		notice, _ := n.Notice(1, owner, 10)
		n.Acknowledged(&notice)
	}
	if got := n.Tasks(cluster.TaskQuery{ID: "t"}); got != nil {
		t.Errorf("all have acknowledged: %+v", got)
	}
}

// What a probe is told of latencies is the time from arrival to end of what ran to one; what was cancelled or lost
// says nothing.
func TestWhichLatenciesCount(t *testing.T) {
	for o, counts := range map[cluster.Outcome]bool{cluster.Finished: true, cluster.Failed: true, cluster.TimedOut: true,
		cluster.Cancelled: false, cluster.Lost: false} {
		n := newNode(t)
		attach(t, n, "s", 1).enqueue(t, n, time.Hour, "t", shape(1, 1, 1))
		n.Finished(time.Hour+5*time.Second, "t", Result{Outcome: o})
		want := time.Duration(-1)
		if counts {
			want = 5 * time.Second
		}
		if got := n.Probe(0).Latency; got != want {
			t.Errorf("%v: latency %v, want %v", o, got, want)
		}
		if got := n.Tasks(cluster.TaskQuery{ID: "t"})[0].Record.Outcome; got != o {
			t.Errorf("%v is recorded as %v", o, got)
		}
	}
}

// A sibling is an empty node of its own; one that makes no sense is refused.
func TestSiblings(t *testing.T) {
	n := newNode(t)
	other := n.cfg.Node
	other.Name = "n2"
	sibling, err := n.Sibling(other)
	if err != nil {
		t.Fatal(err)
	}
	attach(t, sibling, "s", 1).enqueue(t, sibling, 0, "t", shape(1, 1, 1))
	if n.Probe(0).Tasks != 0 || sibling.Probe(0).Tasks != 1 || sibling.Report(0).Node != "n2" {
		t.Errorf("%+v here, %+v there", n.Probe(0), sibling.Probe(0))
	}
	other.Slots = 0
	if _, err := n.Sibling(other); err == nil {
		t.Error("a sibling without slots was accepted")
	}
}

// A time-out that is no time any more is none.
func TestEndlessTimeouts(t *testing.T) {
	const days = 1 << 30 // ms
	n := newNode(t, func(c *Config) { c.Limits.TimeoutFactor = 8589.934592 })
	if limit := n.cfg.Limits.TimeoutFactor * days * 1e6; limit != math.MaxInt64 { // as a float, one more than the longest time
		t.Fatalf("%v", limit)
	}
	s := attach(t, n, "s", 1)
	long := shape(1, 1, 1)
	long.Duration = days
	if start := s.enqueue(t, n, 0, "t", long).Start; len(start) != 1 || start[0].Timeout != 0 {
		t.Errorf("%+v: want no time-out", start)
	}
}

// A ring is halved when a quarter of it is in use, and never smaller than the smallest one.
func TestRingsShrink(t *testing.T) {
	var r ring[int]
	for i := range 2 * minRing {
		r.push(i)
	}
	for left := 2*minRing - 1; left >= 0; left-- {
		r.pop()
		want := 2 * minRing
		if left <= minRing/2 {
			want = minRing
		}
		if len(r.slots) != want {
			t.Errorf("%d in %d slots, want %d", left, len(r.slots), want)
		}
	}
}

// How long a name is waited for counts from the first attempt, at whatever time that was.
func TestPatienceForANameFromTimeZero(t *testing.T) {
	r := NewReporter(time.Second)
	r.asks(0)
	r.Failed(0)
	r.asks(time.Second)
	if !r.Answered(GiveUpName+1, cluster.DuplicateNode) {
		t.Error("it goes on waiting for a name after its time")
	}
}

// What ended without having run to an end has no exit code, which is -1.
func TestExitCodesOfWhatDidNotRun(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"runs", "waits", "is cancelled"} {
		s.enqueue(t, n, 0, id, shape(8, 1, 1))
	}
	n.Cancel(1, cluster.Everybody, "is cancelled", "")
	n.Abandon(2, "the end")
	for id, want := range map[string]cluster.Outcome{"runs": cluster.Lost, "waits": cluster.Lost, "is cancelled": cluster.Cancelled} {
		if r := n.Tasks(cluster.TaskQuery{ID: id})[0].Record; r.Outcome != want || r.ExitCode != -1 {
			t.Errorf("%s: %v with exit code %d, want %v with -1", id, r.Outcome, r.ExitCode, want)
		}
	}
}
