package baselines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// PrequalKnobs configure the policy prequal. The names in brackets are those of the publication
// (Wydrowski et al., "Load is not what you should balance: introducing Prequal", NSDI'24).
type PrequalKnobs struct {
	Latency  string        // what a node's latency is: "history" (median of recent tasks, as published) or "pending" (queued duration D)
	Reuse    float64       // uses per probe answer [b_reuse]; 0: the published formula
	MaxAge   time.Duration // of a probe answer
	Pool     int           // probe answers kept [m]
	Quantile float64       // of recent RIFs, above which a node is hot [Q_RIF]
	Probes   float64       // per task [r_probe]
	Removals float64       // of pool entries, per task [r_remove]
	Delta    float64       // net growth of the pool that the formula for b_reuse aims at [δ]
}

// DefaultPrequalKnobs are the published values. The Dodoor paper's runs differ in Reuse = 1 (Sec. 6.1).
func DefaultPrequalKnobs() PrequalKnobs {
	return PrequalKnobs{Latency: "history", MaxAge: time.Second, Pool: 16, Quantile: 0.84, Probes: 3, Removals: 1, Delta: 1}
}

const (
	maxPool  = 1024
	reuseCap = 16 // uses of one answer where the published formula grows without bound or is undefined
)

func (k *PrequalKnobs) check() error {
	within := func(x, low, high float64) bool { return x >= low && x <= high }
	switch {
	case k.Latency != "history" && k.Latency != "pending":
		return fmt.Errorf("latency = %q: must be history or pending", k.Latency)
	case k.Reuse != 0 && !within(k.Reuse, 1, reuseCap):
		return fmt.Errorf("reuse = %v: must be 0 (the published formula) or between 1 and %d", k.Reuse, reuseCap)
	case k.MaxAge <= 0:
		return fmt.Errorf("age_limit = %v: must be above 0", k.MaxAge)
	case k.Pool < 2 || k.Pool > maxPool:
		return fmt.Errorf("pool = %d: must be between 2 and %d", k.Pool, maxPool)
	case !within(k.Quantile, 0, 1):
		return fmt.Errorf("q_rif = %v: must be between 0 and 1", k.Quantile)
	case !(k.Probes > 0 && k.Probes <= float64(k.Pool)):
		return fmt.Errorf("probes = %v: must be above 0 and at most the pool's size, %d", k.Probes, k.Pool)
	case !within(k.Removals, 0, float64(k.Pool)):
		return fmt.Errorf("remove = %v: must be between 0 and the pool's size, %d", k.Removals, k.Pool)
	case !within(k.Delta, 0, math.MaxFloat64):
		return fmt.Errorf("delta = %v: must be a number of at least 0", k.Delta)
	}
	return nil
}

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

func newPrequal(k Knobs) (scheduler.Policy, error) {
	if err := k.Prequal.check(); err != nil {
		return nil, err
	}
	p := &prequal{knobs: k.Prequal, probes: rate{each: k.Prequal.Probes}, removals: rate{each: k.Prequal.Removals}}
	p.pool = newProbePool(k.Prequal.Pool, k.Prequal.MaxAge)
	p.coin = rand.New(&p.coinSeed)
	return p, nil
}

// Submit goes by the published order: expire, choose, charge, remove, probe.
func (p *prequal) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	draws := v.Draws(t)
	hot := p.rifs.quantile(p.knobs.Quantile)
	p.pool.expire(now, v)
	node, ok := p.choose(t, v, draws, hot)
	if !ok {
		return scheduler.Step{}
	}
	for range p.removals.next() {
		p.pool.remove(hot)
	}
	step := p.on(t, node)
	step.Probe = p.ask(t, v, draws)
	return step
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
func (p *prequal) Probed(now time.Duration, probe scheduler.Probe, v *scheduler.View) scheduler.Step {
	name := v.Node(probe.Node).Name
	if probe.Failed || !remains(v, probe.Node, name) {
		return scheduler.Step{}
	}
	p.rifs.add(probe.Answer.Tasks)
	p.pool.add(poolEntry{node: probe.Node, name: name, received: now, rif: probe.Answer.Tasks,
		latency: p.latency(&probe.Answer), uses: p.uses(probe.Task, probe.Node, v)})
	return scheduler.Step{}
}

func (p *prequal) Cached() bool { return false }

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
