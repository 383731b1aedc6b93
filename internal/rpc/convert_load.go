package rpc

import (
	"math"
	"strings"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) amounts(w *dodoor.Amounts, r *cluster.Resources) *dodoor.Amounts {
	*w = dodoor.Amounts{Millicores: &r[cluster.Cores], MemoryMib: &r[cluster.Memory], DiskMib: &r[cluster.Disk]}
	for k := cluster.FirstExtra; k < e.dims.Len(); k++ {
		if r[k] == 0 {
			continue
		}
		if w.Extra == nil {
			w.Extra = make(map[string]int64, e.dims.Len()-cluster.FirstExtra)
		}
		w.Extra[e.dims.Name(k)] = r[k]
	}
	return w
}

// loadMessage holds a Load and what it points to, for one allocation.
type loadMessage struct {
	load   dodoor.Load
	demand dodoor.Amounts
}

func (e encoder) load(w *loadMessage, l *cluster.Load) *dodoor.Load {
	w.load = dodoor.Load{
		Demand: e.amounts(&w.demand, &l.Demand), Tasks: &l.Tasks, DurationMs: &l.Duration, Work: &l.Work,
	}
	return &w.load
}

// sign says which integers a vector may hold.
type sign struct{ low, high int64 }

var (
	amount  = sign{0, cluster.MaxAmount}         // one task or node
	sum     = sign{0, math.MaxInt64}             // tasks held now
	wrapped = sign{math.MinInt64, math.MaxInt64} // cumulative, and what is computed from it
)

// amounts returns a required vector. Cores and memory must be there; disk and extras default to none.
func (d *decoder) amounts(field string, w *dodoor.Amounts, allowed sign) (r cluster.Resources) {
	if w == nil {
		d.missing(field)
		return r
	}
	d.enter(field, -1)
	defer d.leave()
	r[cluster.Cores] = d.between("millicores", w.Millicores, allowed.low, allowed.high)
	r[cluster.Memory] = d.between("memory_mib", w.MemoryMib, allowed.low, allowed.high)
	if w.DiskMib != nil {
		r[cluster.Disk] = d.between("disk_mib", w.DiskMib, allowed.low, allowed.high)
	}
	if len(w.Extra) > 0 {
		d.extras(w.Extra, &r, allowed)
	}
	return r
}

func (d *decoder) extras(extra map[string]int64, r *cluster.Resources, allowed sign) {
	known := 0
	for k := cluster.FirstExtra; k < d.dims.Len(); k++ {
		v, ok := extra[d.dims.Name(k)]
		if !ok {
			continue
		}
		known++
		if v < allowed.low || v > allowed.high {
			d.between("extra."+d.dims.Name(k), &v, allowed.low, allowed.high)
		}
		r[k] = v
	}
	if known < len(extra) {
		unknownExtra(d, extra)
	}
}

// unknownExtra fails for a resource that this cluster does not have.
func unknownExtra[V any](d *decoder, extra map[string]V) {
	for name := range extra {
		if k, ok := d.dims.Index(name); ok && k >= cluster.FirstExtra {
			continue
		}
		known := "this cluster has none"
		if names := d.dims.Extras(); len(names) > 0 {
			known = "this cluster has " + strings.Join(names, ", ")
		}
		d.fail("extra", "names the unknown resource %.64q: %s", name, known)
	}
}

// load returns a required Load. Its work may always wrap around: it is a product.
func (d *decoder) load(field string, w *dodoor.Load, allowed sign) (l cluster.Load) {
	if w == nil {
		d.missing(field)
		return l
	}
	d.enter(field, -1)
	defer d.leave()
	l.Demand = d.amounts("demand", w.Demand, allowed)
	l.Tasks = d.between("tasks", w.Tasks, allowed.low, allowed.high)
	l.Duration = d.between("duration_ms", w.DurationMs, allowed.low, allowed.high)
	l.Work = d.any64("work", w.Work)
	return l
}
