package campaign

import (
	"math"
	"slices"
	"time"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/report/stats"
)

// Course is how a run went along, by the order in which tasks were due, warm-up included: what a summary does not say of one
// in which schedulers learn. Of what there is none of, a figure is NaN.
type Course struct {
	Windows [len(windowEnds) + 1]float64 // mean makespan of the tasks of every window and, last, of all after them; s of trace time
	LateP95 float64                      // of the tasks after the windows
	Changed float64                      // mean makespan of the tasks after durations changed
	// Followed is how many tasks whose duration had changed had to end, of one type on one class of nodes, before no later one
	// was estimated far off; the most of all types and classes.
	Followed float64
}

// windowEnds is how many tasks were due by the end of every window.
var windowEnds = [...]int{250, 500, settled}

// settled is how many tasks schedulers have to learn from before they are judged.
const settled = 1000

// farOff is how far from what a task takes an estimate counts as wrong, as a share.
const farOff = 0.25

// courseTaker follows a run.
type courseTaker struct {
	scale   float64
	ends    [len(windowEnds)]time.Duration // the first moment after each window
	sums    [len(windowEnds) + 1]float64
	counts  [len(windowEnds) + 1]int
	late    []float64
	change  conf.Change // by factor 1: there is none
	since   time.Duration
	sum     float64
	changed int
	kinds   map[[2]string][]altered // by type and class
}

// altered is a task whose duration had changed.
type altered struct {
	received, completed time.Duration
	off                 bool // its estimate was
}

// newCourseTaker follows a run of a workload.
func newCourseTaker(c *conf.Config, w *generator.Workload) *courseTaker {
	t := &courseTaker{scale: w.TimeScale(), change: c.Sim.Change, kinds: map[[2]string][]altered{}}
	due := func(i int) time.Duration {
		if i < w.Len() {
			return w.Due(i)
		}
		return math.MaxInt64
	}
	for i, end := range windowEnds {
		t.ends[i] = due(end)
	}
	t.since = due(int(math.Ceil(c.Sim.Change.From * float64(w.Len()))))
	return t
}

// Add takes one row. Rows may come in any order.
func (t *courseTaker) Add(r *generator.Row) {
	if r.Outcome != cluster.Finished {
		return
	}
	makespan := (r.Completed - r.Received).Seconds() * t.scale
	window := 0
	for window < len(t.ends) && r.Scheduled >= t.ends[window] {
		window++
	}
	t.sums[window] += makespan
	t.counts[window]++
	if window == len(t.ends) {
		t.late = append(t.late, makespan)
	}
	if t.change.Factor == 1 || r.Scheduled < t.since {
		return
	}
	t.sum += makespan
	t.changed++
	if t.change.Type == "" || t.change.Type == r.Type {
		takes := (r.Finished - r.Started).Seconds() * 1000 * t.scale
		kind := [2]string{r.Type, r.Class}
		t.kinds[kind] = append(t.kinds[kind], altered{r.Received, r.Completed, math.Abs(float64(r.Estimate)-takes) > farOff*takes})
	}
}

// Course is what was followed.
func (t *courseTaker) Course() Course {
	c := Course{LateP95: math.NaN(), Changed: t.sum / float64(t.changed), Followed: math.NaN()}
	for i := range c.Windows {
		c.Windows[i] = t.sums[i] / float64(t.counts[i])
	}
	if len(t.late) > 0 {
		slices.Sort(t.late)
		c.LateP95 = stats.NearestRank(t.late, 950)
	}
	for _, tasks := range t.kinds {
		n := followedAfter(tasks)
		if math.IsNaN(c.Followed) || n > c.Followed {
			c.Followed = n
		}
	}
	return c
}

// followedAfter is how many tasks of one kind had ended when the last one came whose estimate was off; without an end where the
// latest of all was.
func followedAfter(tasks []altered) float64 {
	last, latest := time.Duration(-1), time.Duration(-1)
	for _, t := range tasks {
		latest = max(latest, t.received)
		if t.off {
			last = max(last, t.received)
		}
	}
	if last == latest {
		return math.Inf(1)
	}
	ended := 0
	for _, t := range tasks {
		if t.completed <= last {
			ended++
		}
	}
	return float64(ended)
}
