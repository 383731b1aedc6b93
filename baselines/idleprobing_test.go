package baselines

import (
	"slices"
	"testing"
	"time"

	"dodoor/scheduler"
)

const (
	idle = 500 * time.Millisecond
	tick = 20 * time.Millisecond
)

func idleOn(t fataler, n int, set ...func(*PrequalKnobs)) (*idleProber, *scheduler.View) {
	t.Helper()
	p := newPolicy(t, "prequal", func(s scheduler.Settings) {
		prequalOf(s).Idle = idle
		for _, change := range set {
			change(prequalOf(s))
		}
	}).(*idleProber)
	return p, viewOf(t, n, p)
}

// The Dodoor paper's runs probe per task alone: without the knob, time asks for nothing.
func TestPaperPrequalProbesPerTaskAlone(t *testing.T) {
	p := newPolicy(t, "prequal")
	if _, ticks := p.(scheduler.Ticker); ticks {
		t.Error("prequal acts as time goes by, although idle probing is off by default")
	}
}

// Prequal, NSDI'24: probes go out after a maximum idle time even if no query triggers them. While tasks
// come more often than that, there are none but theirs.
func TestPrequalDoesNotProbeIdlyWhileBusy(t *testing.T) {
	p, v := idleOn(t, 20)
	for now := time.Duration(0); now < time.Minute; now += tick {
		if calls := p.Tick(now, v).Probe; len(calls) > 0 {
			t.Fatalf("%d probes at %v; the last task came %v before", len(calls), now, now%(idle-tick))
		}
		if now%(idle-tick) == 0 {
			p.Submit(now, unit(int(now/tick)), v)
		}
	}
}

// After the idle time a round of r_probe probes goes out, on behalf of no task, to distinct nodes that
// differ from round to round; the next follows an idle time later, however irregular the ticks.
func TestPrequalProbesAfterTheIdleTime(t *testing.T) {
	p, v := idleOn(t, 100)
	if calls := p.Tick(time.Hour, v).Probe; len(calls) > 0 {
		t.Fatalf("%d probes before the first task", len(calls))
	}
	start := time.Hour + 7*time.Millisecond
	p.Submit(start, unit(1), v)
	var rounds []time.Duration
	asked := map[int]bool{}
	for _, after := range []time.Duration{0, idle - 1, idle, idle + tick, 2*idle - 1, 2*idle + tick, 3 * idle, 3*idle + tick, 9 * idle,
		9*idle + tick} {
		calls := p.Tick(start+after, v).Probe
		if len(calls) == 0 {
			continue
		}
		rounds = append(rounds, after)
		for i, call := range calls {
			if call.Task != nil || len(calls) != 3 || slices.Contains(calls[:i], call) {
				t.Errorf("round after %v: %+v, want three nodes and no task", after, calls)
			}
			asked[call.Node] = true
		}
	}
	if want := []time.Duration{idle, 2*idle + tick, 3*idle + tick, 9 * idle}; !slices.Equal(rounds, want) {
		t.Errorf("rounds after %v, want %v", rounds, want)
	}
	if len(asked) < 10 {
		t.Errorf("four rounds asked %d nodes of 100; every round draws anew", len(asked))
	}
}

// A fractional r_probe is met over tasks and rounds together.
func TestPrequalIdleRoundsMeetAFractionalRate(t *testing.T) {
	p, v := idleOn(t, 100, func(k *PrequalKnobs) { k.Probes = 0.5 })
	sum := len(p.Submit(0, unit(1), v).Probe)
	for i := range 9 {
		sum += len(p.Tick(time.Duration(i+1)*idle, v).Probe)
	}
	if sum != 5 {
		t.Errorf("%d probes by one task and nine rounds at r_probe = 0.5, want 5", sum)
	}
}

// Schedulers that idle at the same time ask different nodes: their last tasks differ.
func TestPrequalIdleSchedulersAskDifferentNodes(t *testing.T) {
	same := 0
	for i := range 50 {
		var asked [2][]scheduler.ProbeCall
		for j := range asked {
			p, v := idleOn(t, 100)
			p.Submit(0, unit(2*i+j), v)
			asked[j] = slices.Clone(p.Tick(idle, v).Probe)
		}
		if slices.Equal(asked[0], asked[1]) {
			same++
		}
	}
	if same > 1 {
		t.Errorf("%d of 50 pairs of schedulers asked the same nodes", same)
	}
}

// What it is for: after a minute without tasks the next one is still placed by fresh answers, where the
// pool would have run empty and the node been drawn at random.
func TestPrequalIdlePoolStaysWarm(t *testing.T) {
	p, v := idleOn(t, 4)
	p.Submit(0, unit(0), v)
	for now := tick; now <= time.Minute; now += tick {
		for _, call := range slices.Clone(p.Tick(now, v).Probe) {
			p.Probed(now, answered(call, int64(call.Node)), v)
		}
	}
	if len(p.pool.entries) < 3 {
		t.Fatalf("pool %v after a minute", pooled(p.prequal))
	}
	want := slices.Min(pooled(p.prequal))
	p.knobs.Quantile = 0 // the least loaded
	for i := 1; i <= 20; i++ {
		q := *p.prequal
		q.pool.entries = slices.Clone(p.pool.entries)
		if got := placedOn(t, q.Submit(time.Minute, unit(i), v)); got != want {
			t.Fatalf("task %d placed on %d, want %d, the least loaded of the pool", i, got, want)
		}
	}
}
