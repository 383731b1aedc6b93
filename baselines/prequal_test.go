package baselines

import (
	"math"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// The rules quoted here are those of Prequal's asynchronous mode (NSDI'24).

// prequalOn is a Prequal policy on a view of n equal nodes. Its probes are too rare to matter, and it
// removes nothing, unless set says otherwise.
func prequalOn(t fataler, n int, set ...func(*PrequalKnobs)) (*prequal, *scheduler.View) {
	t.Helper()
	p := newPolicy(t, "prequal", func(s scheduler.Settings) {
		prequalOf(s).Probes, prequalOf(s).Removals = 1e-9, 0
		for _, change := range set {
			change(prequalOf(s))
		}
	})
	return p.(*prequal), viewOf(t, n, p)
}

// hear gives the policy an answer: rif tasks, and a latency in milliseconds.
func hear(p *prequal, v *scheduler.View, now time.Duration, node int, rif, latency int64) {
	p.Probed(now, scheduler.Probe{Task: unit(node), Node: node,
		Answer: cluster.ProbeReply{Tasks: rif, Latency: time.Duration(latency) * time.Millisecond}}, v)
}

func pooled(p *prequal) []int {
	var nodes []int
	for i := range p.pool.entries {
		nodes = append(nodes, p.pool.entries[i].node)
	}
	return nodes
}

// Every query sends r_probe = 3 probes to distinct nodes, uniformly, after placing.
func TestPrequalProbesThreeDistinctNodesUniformly(t *testing.T) {
	const n, queries = 20, 6000
	p := newPolicy(t, "prequal")
	v := viewOf(t, n, p)
	counts := make([]int, n)
	for i := range queries {
		s := p.Submit(0, unit(i), v)
		placedOn(t, s)
		if len(s.Probe) != 3 {
			t.Fatalf("%d probes", len(s.Probe))
		}
		a, b, c := s.Probe[0].Node, s.Probe[1].Node, s.Probe[2].Node
		if a == b || b == c || a == c {
			t.Fatalf("probes to %d, %d and %d: drawn without replacement they differ", a, b, c)
		}
		for _, call := range s.Probe {
			counts[call.Node]++
		}
	}
	for node, count := range counts {
		want, sd := float64(queries)*3/n, math.Sqrt(queries*0.15*0.85)
		if math.Abs(float64(count)-want) > 6*sd {
			t.Errorf("node %d was probed %d times, uniform is %.0f", node, count, want)
		}
	}
}

// Fewer nodes than r_probe are all probed, each once.
func TestPrequalProbesNoNodeTwice(t *testing.T) {
	p := newPolicy(t, "prequal")
	v := viewOf(t, 2, p)
	calls := p.Submit(0, unit(1), v).Probe
	if len(calls) != 2 || calls[0].Node == calls[1].Node {
		t.Errorf("probes %v on two nodes", calls)
	}
}

// A fractional rate is met by deterministic rounding.
func TestPrequalFractionalRates(t *testing.T) {
	for _, each := range []float64{0.1, 0.5, 1, 1.3, 2.75, 3} {
		r, sum := rate{each: each}, 0
		for q := 1; q <= 1000; q++ {
			sum += r.next()
			if want := int(math.Floor(float64(q) * each)); sum != want {
				t.Fatalf("rate %v: %d after %d queries, want %d", each, sum, q, want)
			}
		}
	}
}

// θ is the Q_RIF quantile of the RIFs in recent answers; an entry is hot iff its RIF exceeds θ.
func TestPrequalThreshold(t *testing.T) {
	var w rifWindow
	for rif := int64(100); rif >= 1; rif-- {
		w.add(rif)
	}
	for _, c := range []struct {
		q    float64
		want int64
	}{{0.84, 84}, {0.5, 50}, {0.001, 1}, {0.995, 100}, {0, -1}, {1, math.MaxInt64}} {
		if got := w.quantile(c.q); got != c.want {
			t.Errorf("the %v quantile of 1..100 is %d, want %d", c.q, got, c.want)
		}
	}
	cold, hot := poolEntry{rif: 84, latency: 100}, poolEntry{rif: 85}
	if !cold.before(&hot, 84) || hot.before(&cold, 84) {
		t.Error("RIF = θ is cold, RIF > θ is hot, and cold goes first")
	}
}

// Recent answers: old ones leave the distribution.
func TestPrequalThresholdFollowsTheLoad(t *testing.T) {
	var w rifWindow
	for i := range int64(3 * recentRIFs) {
		w.add(i % 7)
	}
	for range recentRIFs {
		w.add(50)
	}
	if got := w.quantile(0.01); got != 50 || len(w.sorted) != recentRIFs {
		t.Errorf("lowest of the last %d answers is %d of %d, all were 50", recentRIFs, got, len(w.sorted))
	}
}

// "If all are hot → least RIF; else the cold one with least latency."
func TestPrequalHotColdRule(t *testing.T) {
	for _, c := range []struct {
		name     string
		quantile float64
		rif, lat [3]int64
		want     int
	}{
		{"all hot: least RIF, whatever the latency", 0, [3]int64{9, 4, 6}, [3]int64{1, 900, 5}, 1},
		{"all cold: least latency, whatever the RIF", 1, [3]int64{9, 0, 6}, [3]int64{20, 30, 10}, 2},
		{"some hot: least latency of the cold", 0.6, [3]int64{9, 3, 4}, [3]int64{1, 30, 20}, 2},
	} {
		p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Quantile = c.quantile })
		for i := range 3 {
			hear(p, v, 0, i, c.rif[i], c.lat[i])
		}
		if got := placedOn(t, p.Submit(0, unit(1), v)); got != c.want {
			t.Errorf("%s: placed on %d, want %d", c.name, got, c.want)
		}
	}
}

// Latency is the median of recent tasks as published, or D as in the Dodoor prototype.
func TestPrequalLatencySignals(t *testing.T) {
	for signal, want := range map[string]int{"history": 0, "pending": 1} {
		p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Latency, k.Quantile = signal, 1 })
		p.Probed(0, scheduler.Probe{Task: unit(1), Node: 0, Answer: cluster.ProbeReply{Latency: time.Second, Pending: 9000}}, v)
		p.Probed(0, scheduler.Probe{Task: unit(2), Node: 1, Answer: cluster.ProbeReply{Latency: 2 * time.Second, Pending: 10}}, v)
		if got := placedOn(t, p.Submit(0, unit(1), v)); got != want {
			t.Errorf("latency = %s: placed on %d, want %d", signal, got, want)
		}
	}
}

// A node without history is tried before one with.
func TestPrequalUnknownLatencyIsTried(t *testing.T) {
	p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Quantile = 1 })
	hear(p, v, 0, 0, 0, 5)
	p.Probed(0, scheduler.Probe{Task: unit(2), Node: 1, Answer: tasks(0)}, v)
	if got := placedOn(t, p.Submit(0, unit(1), v)); got != 1 {
		t.Errorf("placed on %d, want the node that has no history", got)
	}
}

// "Pool size < 2 → uniformly random feasible node."
func TestPrequalSmallPoolIsRandom(t *testing.T) {
	const n = 4000
	onPooled := 0
	for i := range n {
		p, v := prequalOn(t, 4)
		hear(p, v, 0, 2, 0, 0)
		if placedOn(t, p.Submit(0, unit(i), v)) == 2 {
			onPooled++
		}
		if uses := p.pool.entries[0].uses; uses != reuseCap {
			t.Fatalf("the entry was charged for a random placement: %d uses left", uses)
		}
	}
	if math.Abs(float64(onPooled)-n/4) > 6*math.Sqrt(n*0.25*0.75) {
		t.Errorf("%d of %d on the only pooled node; uniform over 4 is %d", onPooled, n, n/4)
	}
}

// Entries whose node cannot run the task do not count for it.
func TestPrequalPoolCountsFeasibleNodes(t *testing.T) {
	p, _ := prequalOn(t, 4)
	nodes := equalNodes(4)
	nodes[0], nodes[1] = node("large", 64), node("larger", 64)
	v := newReplica(t, testConfig(), p, nodes).View()
	hear(p, v, 0, 2, 0, 0)
	hear(p, v, 0, 0, 5, 50)
	hear(p, v, 0, 1, 5, 20)
	if got := placedOn(t, p.Submit(0, taskOf(1, 32), v)); got != 1 {
		t.Errorf("placed on %d, want 1, the better of two that can run the task", got)
	}
}

// Order within a query: expire → choose → charge and bump → remove → probe.
func TestPrequalOrderWithinAQuery(t *testing.T) {
	p, v := prequalOn(t, 100, func(k *PrequalKnobs) { k.Quantile, k.Reuse, k.Probes, k.Removals = 1, 1, 3, 1 })
	hear(p, v, 0, 0, 0, 0)             // the best, but too old
	hear(p, v, time.Second/2, 1, 0, 5) // chosen, although the removal would take it as the oldest
	hear(p, v, time.Second/2, 2, 0, 7)
	hear(p, v, time.Second/2, 3, 0, 9)
	s := p.Submit(time.Second+1, unit(1), v)
	if got := placedOn(t, s); got != 1 {
		t.Errorf("placed on %d; expiry comes first, then the choice", got)
	}
	if got := pooled(p); !slices.Equal(got, []int{3}) {
		t.Errorf("pool %v; the charge used up node 1, then node 2 was removed as the oldest", got)
	}
	if len(s.Probe) != 3 {
		t.Errorf("%d probes; their answers are for later queries", len(s.Probe))
	}
}

// A node that was probed and left, or whose index another worker has now, is not placed on.
func TestPrequalForgetsNodesThatLeft(t *testing.T) {
	p, _ := prequalOn(t, 4)
	r := newReplica(t, testConfig(), p, equalNodes(4))
	for i := range 4 {
		hear(p, r.View(), 0, i, int64(i), int64(i))
	}
	rest := equalNodes(4)
	rest[0], rest[1].Draining = node("newcomer", 8), true
	push(t, r, 2, rest[1:], nil, nil)
	push(t, r, 3, rest, nil, nil)
	if got := placedOn(t, p.Submit(0, unit(1), r.View())); got != 2 {
		t.Errorf("placed on %d, want 2: w0 left and w1 drains", got)
	}
	if got := pooled(p); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("pool %v, want [2 3]", got)
	}
}
