package baselines

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

var _ = register(scheduler.Spec{
	Name:  "prequal",
	Knobs: func() scheduler.Knobs { return DefaultPrequal() },
	New:   newPrequal,

	Manual: scheduler.ManualRow{Compares: "up to 16 recent answers", By: "number of tasks, then latency", Messages: "1 + r_probe = 4"},
})

const reuseCap = 16 // uses of one answer where the published formula grows without bound or is undefined

// prequal is Prequal in its asynchronous mode: every task is placed from a pool of recent probe
// answers and then sends probes whose answers serve later tasks.
type prequal struct {
	placing
	knobs    PrequalKnobs
	pool     probePool
	rifs     rifWindow
	probes   rate
	removals rate
	calls    []scheduler.ProbeCall
	coinSeed rand.PCG
	coin     *rand.Rand
}

func newPrequal(knobs scheduler.Knobs) scheduler.Policy {
	k := *knobs.(*PrequalKnobs)
	p := &prequal{knobs: k, probes: rate{each: k.Probes}, removals: rate{each: k.Removals}}
	p.pool = newProbePool(k.Pool, k.MaxAge)
	p.coin = rand.New(&p.coinSeed)
	if k.Idle > 0 {
		return &idleProber{prequal: p, after: k.Idle}
	}
	return p
}

// Submit goes by the published order: expire, choose, charge, remove, probe.
func (p *prequal) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	hot := p.rifs.quantile(p.knobs.Quantile)
	p.pool.expire(now, v)
	node, ok := p.choose(t, v, draws, hot)
	if !ok {
		return scheduler.Decision{}
	}
	for range p.removals.next() {
		p.pool.remove(hot)
	}
	decision := p.on(t, node)
	decision.Probe = p.ask(t, v, draws)
	return decision
}

// choose takes the pool's best and charges it or, when the pool is too small to choose from, any
// feasible node.
func (p *prequal) choose(t *cluster.Task, v *scheduler.View, draws *rand.Rand, hot int64) (int, bool) {
	best, ok := p.pool.best(t, v, hot)
	if !ok {
		return v.Draw(t, draws, scheduler.NoNode)
	}
	return p.pool.use(best), true
}

// ask draws the nodes to probe uniformly from all candidates, without replacement (Floyd's method):
// the answers are for later tasks, whatever this one needs.
func (p *prequal) ask(t *cluster.Task, v *scheduler.View, draws *rand.Rand) []scheduler.ProbeCall {
	candidates := v.Candidates()
	p.calls = p.calls[:0]
	for last := len(candidates) - min(p.probes.next(), len(candidates)); last < len(candidates); last++ {
		call := scheduler.ProbeCall{Task: t, Node: int(candidates[draws.IntN(last+1)])}
		if slices.Contains(p.calls, call) {
			call.Node = int(candidates[last])
		}
		p.calls = append(p.calls, call)
	}
	return p.calls
}

// Probed puts an answer into the pool. A probe that failed says nothing.
func (p *prequal) Probed(now time.Duration, probe scheduler.Probe, v *scheduler.View) scheduler.Decision {
	name := v.Node(probe.Node).Name
	if probe.Failed || !remains(v, probe.Node, name) {
		return scheduler.Decision{}
	}
	p.rifs.add(probe.Answer.Tasks)
	p.pool.add(poolEntry{node: probe.Node, name: name, received: now, rif: probe.Answer.Tasks,
		latency: p.latency(&probe.Answer), uses: p.uses(probe.Task, probe.Node, v)})
	return scheduler.Decision{}
}

func (p *prequal) Wants() scheduler.Wants { return scheduler.Wants{} }

// latency is the signal that cold nodes are compared by. It is negative, hence the least, for a node
// that has not finished any task yet, so that somebody tries it.
func (p *prequal) latency(a *cluster.ProbeReply) time.Duration {
	if p.knobs.Latency == "pending" {
		return time.Duration(a.Pending) * time.Millisecond
	}
	return a.Latency
}

// uses is how often one answer may serve: b_reuse, rounded at random to a neighbouring integer so
// that its mean is exact. The coin comes from the task's generator and the node, since the answers to
// one task's probes arrive in any order.
func (p *prequal) uses(t *cluster.Task, node int, v *scheduler.View) int {
	p.coinSeed.Seed(v.Draws(t).Uint64(), uint64(node))
	return roundAt(p.knobs.reuse(len(v.Candidates())), p.coin.Float64())
}

// reuse is b_reuse = max{1, (1+δ)/((1−m/n)·r_probe − r_remove)} for n nodes, at most reuseCap.
func (k *PrequalKnobs) reuse(n int) float64 {
	if k.Reuse > 0 {
		return k.Reuse
	}
	gain := (1-float64(k.Pool)/float64(n))*k.Probes - k.Removals
	if gain <= 0 {
		return reuseCap
	}
	return min(max(1, (1+k.Delta)/gain), reuseCap)
}

// roundAt rounds x up if the coin, uniform in [0, 1), falls below x's fraction, else down.
func roundAt(x, coin float64) int {
	whole := math.Floor(x)
	if coin < x-whole {
		whole++
	}
	return int(whole)
}

// rate meets a fractional number per query by deterministic rounding: after q queries exactly ⌊q·each⌋.
type rate struct {
	each    float64
	queries float64
}

func (r *rate) next() int {
	before := math.Floor(r.queries * r.each)
	r.queries++
	return int(math.Floor(r.queries*r.each) - before)
}
