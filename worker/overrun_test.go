package worker

import (
	"fmt"
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A kind with eight runs of its own speaks for itself, one with seven does not; and what is older than 64 runs is forgotten.
func TestOverrunsOfAKind(t *testing.T) {
	left := func(own, others, later int) int64 {
		n := newNode(t)
		s := attach(t, n, "s", 1)
		end := func(count int, mode string, times int64) {
			for i := range count {
				id := fmt.Sprint(mode, times, i)
				a := s.place(id, shape(1, 1, 10))
				a.Type, a.Mode = "float", mode
				if reply, _, err := n.Enqueue(0, s.message(n, a)); err != nil || len(reply.Refused) > 0 {
					t.Fatal(reply, err)
				}
				finished(n, time.Duration(times)*10*time.Second, id)
			}
		}
		end(own, "short", 3)
		end(others, "long", 9)
		end(later, "long", 5)
		a := s.place("x", shape(1, 1, 10))
		a.Type, a.Mode = "float", "short"
		if _, _, err := n.Enqueue(0, s.message(n, a)); err != nil {
			t.Fatal(err)
		}
		return n.Report(20 * time.Second).Load.Duration
	}
	expect(t, "eight of its own", left(8, 30, 0), 10_000)
	expect(t, "seven of its own", left(7, 30, 0), 70_000)
	expect(t, "all others", left(0, 30, 0), 70_000)
	expect(t, "eight of its own, all but forgotten", left(8, 1, 55), 10_000)
	expect(t, "one of the eight forgotten", left(8, 1, 56), 30_000)
	expect(t, "nothing ran longer", left(0, 0, 0), 20_000)
}

// Estimates as the only truth: the paper's D.
func TestOverrunsAreOff(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Reestimate = false })
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(1, 1, 10))
	expect(t, "no moment to look", n.Due(), time.Duration(0))
	expect(t, "load", n.Report(time.Hour).Load, n.Stats(0).Load)
	expect(t, "pending", n.Probe(time.Hour).Pending, 10_000)
	expect(t, "report", n.Overran(time.Hour).Report, false)
}

// A clock that goes back makes nobody have run or waited for less than no time.
func TestIntervalsAreNeverNegative(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 10*time.Second, "runs", shape(8, 1, 10))
	s.enqueue(t, n, 10*time.Second, "waits", shape(8, 1, 10))
	finished(n, 4*time.Second, "runs")
	finished(n, 3*time.Second, "waits")
	done := notice(t, n, "s")
	for _, c := range done.Message.Completions {
		expect(t, c.TaskID, []time.Duration{c.Wait, c.Run}, []time.Duration{0, 0})
	}
	expect(t, "latency", n.Probe(0).Latency, time.Duration(0))
}

// The longest estimates, at the ends of the clock, stay within what a message can say.
func TestOverrunsAreBounded(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", cluster.Shape{Demand: cluster.Resources{1000}, Duration: 0})
	s.enqueue(t, n, 0, "b", cluster.Shape{Demand: cluster.Resources{1000}, Duration: cluster.MaxDuration})
	finished(n, math.MaxInt64/4, "a")
	report := n.Report(math.MaxInt64 / 4)
	expect(t, "as long again, and not longer than anything may be", report.Load.Duration, cluster.MaxDuration)
	n.Overran(math.MaxInt64 / 4)
	if due := n.Due(); due <= math.MaxInt64/4 {
		t.Errorf("it looks again at %v", due)
	}
}

// Reports cost no memory when tasks run longer than estimated.
func TestOverrunsAllocateNothing(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for i := range 8 {
		s.enqueue(t, n, 0, fmt.Sprint(i), shape(1, 1, 1))
	}
	var report cluster.Report
	n.FillReport(0, &report)
	if allocs := testing.AllocsPerRun(100, func() {
		n.FillReport(time.Minute, &report)
		n.Overran(time.Minute)
		n.Probe(time.Minute)
	}); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// Many short tasks that run long are not as many reports, whenever each of them has run too long.
func TestReportsOfOverrunsAreRare(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Node.Slots, c.Node.Capacity = 1000, cluster.Resources{1e6, 1e6} })
	s := attach(t, n, "s", 1)
	for i := range 1000 {
		s.enqueue(t, n, time.Duration(i)*time.Millisecond, fmt.Sprint(i), cluster.Shape{Demand: cluster.Resources{1}, Duration: 1})
	}
	reports := 0
	for now := n.Due(); now < 10*time.Second; now = n.Due() {
		if n.Overran(now).Report {
			reports++
		}
		if n.Due() <= now {
			t.Fatalf("at %v, it looks again at %v", now, n.Due())
		}
	}
	if reports == 0 || reports > 100 {
		t.Errorf("%d reports within 10 s, want some, and one in 100 ms at most", reports)
	}
}

// What is beyond estimates is worked out anew once it is a while old, and not for each who asks.
func TestSumsOfOverrunsHold(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(1, 1, 1))
	s.enqueue(t, n, 0, "b", shape(1, 1, 1))
	pending := func(now time.Duration) int64 { return n.Report(now).Load.Duration }
	expect(t, "first", pending(2*time.Second), 4000)
	expect(t, "soon after", pending(2*time.Second+9*time.Millisecond), 4000)
	expect(t, "when one has ended", func() int64 { finished(n, 2009*time.Millisecond, "a"); return pending(2009 * time.Millisecond) }(), 2000)
	expect(t, "later", pending(2*time.Second+10*time.Millisecond), 2010)
	expect(t, "earlier", pending(time.Second), 1000)
}
