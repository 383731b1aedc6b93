package generator

import (
	"fmt"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Options choose what is replayed of a trace, and how.
type Options struct {
	N      int // the first N requests, warm-up included; 0: all
	Pacing Pacing

	// IDPrefix goes before every id, for a second replay against services that still remember the
	// first. Every draw for a task is seeded by its id, so a prefix changes the draws: runs that are
	// to be compared need the same one, or none.
	IDPrefix string

	// NoDisk drops the disk column, for a cluster whose nodes declare no disk.
	NoDisk bool

	AtMostOnce bool // tasks must not run again after a machine failed
}

// Workload is a schedule of tasks: what is submitted, and when. It outlives most of what happens to its
// tasks, and there may be millions, so it holds few bytes of each and next to nothing that the garbage
// collector has to follow.
type Workload struct {
	ids     string // of all tasks, one after the other
	idAt    []int  // where the id of task i begins, and that of i-1 ends
	due     []time.Duration
	kindOf  []int32
	kinds   []kind
	options Options
}

// kind is what tasks have in common, except in a trace where every row has its own.
type kind struct {
	typ, mode string
	demand    cluster.Resources
	duration  int64
}

// NewWorkload paces the first o.N requests. It keeps none of them.
func NewWorkload(requests []Request, o Options) (*Workload, error) {
	switch {
	case o.N < 0:
		return nil, fmt.Errorf("number of requests is %d: it must be positive, or 0 for the whole trace", o.N)
	case len(requests) == 0:
		return nil, fmt.Errorf("the trace has no requests")
	case o.N > len(requests):
		return nil, fmt.Errorf("%d requests were asked for and the trace has %d: make a longer one with `dodoor trace`, or ask for fewer",
			o.N, len(requests))
	case o.N > 0:
		requests = requests[:o.N]
	}
	if s := o.Pacing.TimeScale; !(s >= 1 && s <= cluster.MaxTimeScale) {
		return nil, fmt.Errorf("time scale is %g: allowed are 1 to %g", s, cluster.MaxTimeScale)
	}
	due, err := o.Pacing.Due(requests)
	if err != nil {
		return nil, err
	}
	w := &Workload{due: due, options: o, idAt: make([]int, 1, len(requests)+1), kindOf: make([]int32, len(requests))}
	var ids strings.Builder
	known := map[kind]int32{}
	for i := range requests {
		q := &requests[i]
		ids.WriteString(o.IDPrefix)
		ids.WriteString(q.ID)
		w.idAt = append(w.idAt, ids.Len())
		k := kind{q.Type, q.Mode, q.Demand, q.Duration}
		if o.NoDisk {
			k.demand[cluster.Disk] = 0
		}
		at, ok := known[k]
		if !ok {
			at = int32(len(w.kinds))
			known[k] = at
			w.kinds = append(w.kinds, k)
		}
		w.kindOf[i] = at
	}
	w.ids = ids.String()
	return w, nil
}

// Len returns the number of tasks.
func (w *Workload) Len() int { return len(w.due) }

// Due returns when task i is due: wall-clock time since the start of the run, never before task i-1.
func (w *Workload) Due(i int) time.Duration { return w.due[i] }

// TimeScale returns how many seconds of the trace pass in one.
func (w *Workload) TimeScale() float64 { return w.options.Pacing.TimeScale }

// AtMostOnce returns whether tasks must not run twice.
func (w *Workload) AtMostOnce() bool { return w.options.AtMostOnce }

// ID returns the id under which task i is submitted.
func (w *Workload) ID(i int) string { return w.ids[w.idAt[i]:w.idAt[i+1]] }

// Task returns task i as it is submitted. It carries the row's own demand and duration: they hold on
// node classes where the type's profile has no figures. The pointers lead into the workload and must
// not be written through.
func (w *Workload) Task(i int) cluster.TaskSpec {
	k := &w.kinds[w.kindOf[i]]
	return cluster.TaskSpec{
		ID:         w.ID(i),
		Type:       k.typ,
		Mode:       k.mode,
		Demand:     &k.demand,
		Duration:   &k.duration,
		AtMostOnce: w.options.AtMostOnce,
		TimeScale:  w.options.Pacing.TimeScale,
	}
}
