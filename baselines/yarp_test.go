package baselines

import (
	"slices"
	"testing"
	"time"

	"dodoor/scheduler"
)

const poll = 500 * time.Millisecond

func yarpOn(t fataler, n int) (*yarp, *scheduler.View) {
	t.Helper()
	p := newPolicy(t, "yarp").(*yarp)
	return p, viewOf(t, n, p)
}

// "YARP primarily relies on periodic synchronized probing at fixed intervals" (Sec. 2.3): one poll of
// every worker per period, on behalf of no task, however often the clock ticks.
func TestPaperYarpPollsPeriodically(t *testing.T) {
	p, v := yarpOn(t, 7)
	var polls []time.Duration
	for now := time.Duration(0); now <= 3*time.Second; now += 20 * time.Millisecond {
		calls := p.Tick(now, v).Probe
		if len(calls) == 0 {
			continue
		}
		polls = append(polls, now)
		for i, call := range calls {
			if len(calls) != 7 || call.Node != i || call.Task != nil {
				t.Fatalf("poll at %v: %+v, want every worker once and no task", now, calls)
			}
		}
	}
	if want := []time.Duration{0, poll, 2 * poll, 3 * poll, 4 * poll, 5 * poll, 6 * poll}; !slices.Equal(polls, want) {
		t.Errorf("polls at %v, want %v", polls, want)
	}
}

// Ticks that come late do not pile up polls, and the cadence stays.
func TestYarpLateTicks(t *testing.T) {
	p, v := yarpOn(t, 3)
	for _, c := range []struct {
		at    time.Duration
		polls bool
	}{{0, true}, {1700 * time.Millisecond, true}, {1720 * time.Millisecond, false}, {2000 * time.Millisecond, true}} {
		if got := len(p.Tick(c.at, v).Probe) > 0; got != c.polls {
			t.Errorf("tick at %v: polls %v, want %v", c.at, got, c.polls)
		}
	}
}

// The first poll comes with the first workers, not a period later.
func TestYarpPollsTheFirstWorkersAtOnce(t *testing.T) {
	p := newPolicy(t, "yarp").(*yarp)
	r := newReplica(t, testConfig(), p, nil)
	r.Tick(0)
	push(t, r, 2, equalNodes(3), nil, nil)
	if got := len(r.Tick(20 * time.Millisecond).Probe); got != 3 {
		t.Errorf("%d probes after 3 workers appeared", got)
	}
}

// Of two drawn nodes the one with fewer tasks by the newest answers; a tie goes to the first drawn, and
// a poll that fails leaves the last answer standing.
func TestYarpComparesTheNewestAnswers(t *testing.T) {
	p, v := yarpOn(t, 2)
	say := func(node int, n int64) { p.Probed(0, answered(scheduler.ProbeCall{Node: node}, n), v) }
	place := func() (on [2]int) {
		for i := range 100 {
			on[placedOn(t, p.Submit(0, unit(i), v))]++
		}
		return on
	}
	for i := range 100 {
		first, _ := v.Draw(unit(i), v.Draws(unit(i)), scheduler.NoNode)
		if got := placedOn(t, p.Submit(0, unit(i), v)); got != first {
			t.Fatalf("placed on node %d; before any answer the first drawn, %d, wins", got, first)
		}
	}
	say(0, 5)
	if on := place(); on[1] != 100 {
		t.Errorf("placements %v; node 1 has not answered and counts as idle", on)
	}
	say(1, 9)
	if on := place(); on[0] != 100 {
		t.Errorf("placements %v with N = 5 and 9", on)
	}
	say(0, 12)
	p.Probed(0, failed(scheduler.ProbeCall{Node: 1}), v)
	if on := place(); on[1] != 100 {
		t.Errorf("placements %v with N = 12 and a last answer of 9", on)
	}
}

// What a departed worker said does not count against the one that took over its index.
func TestYarpForgetsDepartedWorkers(t *testing.T) {
	p := newPolicy(t, "yarp")
	r := newReplica(t, testConfig(), p, equalNodes(2))
	p.(scheduler.Prober).Probed(0, answered(scheduler.ProbeCall{Node: 0}, 50), r.View())
	p.(scheduler.Prober).Probed(0, answered(scheduler.ProbeCall{Node: 1}, 1), r.View())
	rest := equalNodes(2)
	rest[0] = node("newcomer", 8)
	leave(r, push(t, r, 2, rest[1:], nil, nil))
	push(t, r, 3, rest, nil, nil)
	for i := range 20 {
		if got := placedOn(t, p.Submit(0, unit(i), r.View())); got != 0 {
			t.Fatalf("placed on node %d; node 0 is new and has not answered", got)
		}
	}
}
