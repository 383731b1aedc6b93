package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// However a task is estimated, an emulated execution takes what it was told, and its time limit rests on that as well. The
// estimate is what counts for the load.
func TestWhatAnExecutionTakesIsNotItsEstimate(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Limits.TimeoutFactor = 2 })
	s := attach(t, n, "s", 1)
	a := s.place("t", shape(1, 1, 10))
	a.Takes = 3000
	_, actions, _ := n.Enqueue(0, s.message(n, a))
	start := actions.Start[0]
	expect(t, "start", []any{start.Takes, start.Timeout, Emulation{}.Duration(&start), n.Report(0).Load.Duration},
		[]any{int64(3000), 6 * time.Second, 3 * time.Second, int64(10_000)})
	a = s.place("guess", shape(1, 1, 10))
	a.Guessed = true
	_, actions, _ = n.Enqueue(0, s.message(n, a))
	expect(t, "a guess ends nothing", actions.Start[0].Timeout, time.Duration(0))
	a = s.place("absurd", shape(1, 1, 1))
	a.Takes = cluster.MaxDuration + 1
	reply, _, _ := n.Enqueue(0, s.message(n, a))
	expect(t, "refused", reply.Refused[0].Message, "a duration of 31536000001 ms is out of range (0 to 31536000000)")
}

// Two schedulers may expect the same task to last differently, and to need more or less: it runs once, with what the first said.
func TestOneExecutionOfDifferentEstimates(t *testing.T) {
	n := newNode(t)
	a, b := attach(t, n, "a", 1), attach(t, n, "b", 1)
	a.enqueue(t, n, 0, "t", shape(1, 1, 10))
	actions := b.enqueue(t, n, 0, "t", shape(1, 1, 2))
	load := n.Report(0).Load
	expect(t, "it starts once", []any{len(actions.Start), load.Tasks, load.Duration}, []any{0, int64(1), int64(10_000)})
	attach(t, n, "c", 1).enqueue(t, n, 0, "t", shape(2, 3, 10))
	report := n.Report(0)
	expect(t, "it runs with the first demand", []any{report.RunningDemand, report.Load.Tasks}, []any{cluster.Resources{1000, 1}, int64(1)})
}
