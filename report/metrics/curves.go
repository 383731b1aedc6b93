package metrics

import (
	"math"
	"slices"

	"dodoor/report/stats"
)

// Curves are what figures need beyond a Summary. Their size does not depend on the number of tasks.
type Curves struct {
	MakespanS    Quantiles
	SchedulingMs Quantiles
	ViewAge      Quantiles  // in decisions; empty when the policy decides without a view
	Misjudged    bool       // some task took another time than was estimated
	ErrorPercent Quantiles  // of run times against estimates; empty when there were no estimates
	Estimates    []TypeRuns // by type

	BinS    float64      // width of a bin of the series below, in trace time
	Waiting []float64    // tasks waiting at workers, the mean of each bin
	Classes []ClassCurve // by name
}

// Length is how long the run went on, in trace time.
func (c *Curves) Length() float64 { return float64(len(c.Waiting)) * c.BinS }

// ClassCurve follows one class of nodes through a run.
type ClassCurve struct {
	Name        string
	Utilisation []float64 // cores in use, share of 1
	Queue       []float64 // waiting tasks per node
	Placements  int       // tasks that a worker of the class acknowledged
	// Blocked is the share of the class's core-seconds that were free at a node where a task waited:
	// what the head of line, too large for what was free, kept from those behind it. NaN when the
	// class has nodes of several sizes, as rows do not say which is which.
	Blocked float64
}

// Quantiles are the values at equal steps of a distribution, from the least to the largest.
type Quantiles []float64

// quantileSteps keeps the 99.9th percentile apart.
const quantileSteps = 1000

// quantilesOf needs sorted values. Few of them are kept as they are.
func quantilesOf(sorted []float64) Quantiles {
	if len(sorted) <= quantileSteps {
		return slices.Clone(sorted)
	}
	q := make(Quantiles, quantileSteps+1)
	q[0] = sorted[0]
	for i := 1; i <= quantileSteps; i++ {
		q[i] = stats.NearestRank(sorted, i)
	}
	return q
}

// Pooled joins the distributions of several runs, each with the weight of its number of points:
// the same for runs of one size.
func Pooled(all []Quantiles) Quantiles {
	q := slices.Concat(all...)
	slices.Sort(q)
	return q
}

// CDF thins a distribution to at most so many points (value, share of values at most as large).
func (q Quantiles) CDF(points int) (x, share []float64) {
	n := len(q)
	step := max(1, float64(n)/float64(points))
	for at := 0.0; ; at += step {
		i := min(int(math.Round(at)), n-1)
		x, share = append(x, q[i]), append(share, float64(i+1)/float64(n))
		if i == n-1 {
			return x, share
		}
	}
}

// KeepCurves makes a fold gather what Curves needs, from the next row on.
func (f *Fold) KeepCurves() { f.lines = newTimeline(f.info) }

// Curves must be called after Summary, which sorts what the fold gathered.
func (f *Fold) Curves() *Curves {
	c := &Curves{MakespanS: quantilesOf(f.makespan), SchedulingMs: quantilesOf(f.scheduling)}
	ages := f.viewAges()
	slices.Sort(ages)
	c.ViewAge = quantilesOf(ages)
	f.estimates.curves(c)
	f.lines.curves(c, f.firstArrival, f.lastCompletion)
	return c
}
