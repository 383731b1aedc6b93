package generator

import (
	"fmt"
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

// Workload is a schedule of tasks: what is submitted, and when.
type Workload struct {
	requests []Request
	due      []time.Duration
	options  Options
}

// NewWorkload paces the first o.N requests. The requests belong to the workload from then on.
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
	if o.NoDisk {
		for i := range requests {
			requests[i].Demand[cluster.Disk] = 0
		}
	}
	return &Workload{requests: requests, due: due, options: o}, nil
}

// Len returns the number of tasks.
func (w *Workload) Len() int { return len(w.requests) }

// Due returns when task i is due: wall-clock time since the start of the run, never before task i-1.
func (w *Workload) Due(i int) time.Duration { return w.due[i] }

// TimeScale returns how many seconds of the trace pass in one.
func (w *Workload) TimeScale() float64 { return w.options.Pacing.TimeScale }

// ID returns the id under which task i is submitted.
func (w *Workload) ID(i int) string { return w.options.IDPrefix + w.requests[i].ID }

// Task returns task i as it is submitted. It carries the row's own demand and duration: they hold on
// node classes where the type's profile has no figures. The pointers lead into the workload and must
// not be written through.
func (w *Workload) Task(i int) cluster.TaskSpec {
	q := &w.requests[i]
	return cluster.TaskSpec{
		ID:         w.ID(i),
		Type:       q.Type,
		Mode:       q.Mode,
		Demand:     &q.Demand,
		Duration:   &q.Duration,
		AtMostOnce: w.options.AtMostOnce,
		TimeScale:  w.options.Pacing.TimeScale,
	}
}
