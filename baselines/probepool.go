package baselines

import (
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// probePool holds the probe answers that Prequal chooses from, at most one per node, in the order in
// which they arrived.
type probePool struct {
	entries []poolEntry
	size    int
	maxAge  time.Duration
	worst   bool // the next removal takes the worst entry, not the oldest
}

// poolEntry is one probe answer.
type poolEntry struct {
	node     int
	name     string
	received time.Duration
	rif      int64 // requests in flight: N when the node answered, plus own uses since
	latency  time.Duration
	uses     int // left
}

func newProbePool(size int, maxAge time.Duration) probePool {
	return probePool{entries: make([]poolEntry, 0, size), size: size, maxAge: maxAge}
}

// add puts an answer in: it replaces the same node's older one, else, when the pool is full, the
// oldest.
func (p *probePool) add(e poolEntry) {
	if i := slices.IndexFunc(p.entries, func(o poolEntry) bool { return o.node == e.node }); i >= 0 {
		p.drop(i)
	} else if len(p.entries) == p.size {
		p.drop(0)
	}
	p.entries = append(p.entries, e)
}

// expire drops what is too old and nodes that take no placements any more.
func (p *probePool) expire(now time.Duration, v *scheduler.View) {
	kept := p.entries[:0]
	for _, e := range p.entries {
		if now-e.received <= p.maxAge && remains(v, e.node, e.name) {
			kept = append(kept, e)
		}
	}
	p.entries = kept
}

// best returns the entry to place t on by the hot-cold rule. It is false when fewer than two entries
// can run t.
func (p *probePool) best(t *cluster.Task, v *scheduler.View, hot int64) (int, bool) {
	best, feasible := -1, 0
	for i := range p.entries {
		e := &p.entries[i]
		if !v.Feasible(e.node, t) {
			continue
		}
		feasible++
		if best < 0 || e.before(&p.entries[best], hot) {
			best = i
		}
	}
	return best, feasible >= 2
}

// before is the hot-cold rule as an order from best to worst. An entry is hot if its RIF exceeds the
// threshold. Cold ones come first, by latency; hot ones follow, by RIF.
func (e *poolEntry) before(o *poolEntry, hot int64) bool {
	switch isHot := e.rif > hot; {
	case isHot != (o.rif > hot):
		return !isHot
	case isHot:
		return e.rif < o.rif
	default:
		return e.latency < o.latency
	}
}

// use charges entry i with one more task and returns its node.
func (p *probePool) use(i int) int {
	e := &p.entries[i]
	node := e.node
	e.rif++
	if e.uses--; e.uses <= 0 {
		p.drop(i)
	}
	return node
}

// remove takes one entry out, in turn the oldest, whose answer says least, and the worst, so that the
// pool does not fill up with nodes that nobody wants.
func (p *probePool) remove(hot int64) {
	if len(p.entries) == 0 {
		return
	}
	out := 0
	if p.worst {
		for i := range p.entries {
			if p.entries[out].before(&p.entries[i], hot) {
				out = i
			}
		}
	}
	p.worst = !p.worst
	p.drop(out)
}

func (p *probePool) drop(i int) { p.entries = slices.Delete(p.entries, i, i+1) }

// rifWindow estimates the distribution of RIF over the nodes from the newest probe answers.
type rifWindow struct {
	newest [recentRIFs]int64 // a ring
	added  int               // ever
	sorted []int64
}

// recentRIFs is large enough for stable quantiles and, at three probes per task, small enough to
// follow the load within some forty tasks.
const recentRIFs = 128

func (w *rifWindow) add(rif int64) {
	slot := &w.newest[w.added%recentRIFs]
	if w.added >= recentRIFs {
		i, _ := slices.BinarySearch(w.sorted, *slot)
		w.sorted = slices.Delete(w.sorted, i, i+1)
	}
	*slot = rif
	w.added++
	i, _ := slices.BinarySearch(w.sorted, rif)
	w.sorted = slices.Insert(w.sorted, i, rif)
}

// quantile returns the threshold above which a RIF is hot: the smallest one that at least a share q
// of the recent answers does not exceed. At the ends, q = 0 makes every entry hot (RIF decides alone)
// and q = 1 none (latency decides alone).
func (w *rifWindow) quantile(q float64) int64 {
	switch rank := int(math.Ceil(q * float64(len(w.sorted)))); {
	case q >= 1:
		return math.MaxInt64
	case rank == 0:
		return -1
	default:
		return w.sorted[rank-1]
	}
}
