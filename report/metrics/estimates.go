package metrics

import (
	"math"
	"slices"
	"strings"

	"dodoor/generator"

	"dodoor/report/stats"
)

// EstimateError says how far run times were from what schedulers had been told: shares of the estimate,
// over tasks that finished. All fields are 0 when estimates were exact, or there were none.
type EstimateError struct {
	Mean float64 `json:"mean"` // of |run - estimate| / estimate
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Bias float64 `json:"bias"` // mean of (run - estimate) / estimate: above 0, tasks took longer
}

// estimates gathers run times and what had been estimated.
type estimates struct {
	errors  []float64 // (run - estimate) / estimate
	startup []float64 // milliseconds of trace time, where it is known
	clouds  map[string]*cloud
	off     bool // an estimate was not exact
}

// Exact is the error up to which an estimate counts as exact, as a share; the noise of clocks and timers
// never makes one wrong.
const Exact = 0.01

// add takes a task that finished; k is the time scale.
func (e *estimates) add(r *generator.Row, k float64) {
	if r.Startup > 0 {
		e.startup = append(e.startup, milliseconds(r.Startup)*k)
	}
	if r.Estimate <= 0 {
		return
	}
	estimate, run := float64(r.Estimate)/1000, (r.Finished-r.Started).Seconds()*k
	e.errors = append(e.errors, run/estimate-1)
	e.off = e.off || math.Abs(run-estimate) > max(Exact*estimate, Noise.Seconds()*k)
	if e.clouds[r.Type] == nil {
		e.clouds[r.Type] = &cloud{stride: 1}
	}
	e.clouds[r.Type].add(estimate, run)
}

func (e *estimates) summary() EstimateError {
	sizes := make([]float64, len(e.errors))
	for i, share := range e.errors {
		sizes[i] = math.Abs(share)
	}
	d := stats.DistributionOf(sizes)
	return EstimateError{Mean: d.Mean, P50: d.P50, P95: d.P95, Bias: stats.DistributionOf(slices.Clone(e.errors)).Mean}
}

// CloudPoints are as many as a column of a paper can show apart.
const CloudPoints = 256

// cloud keeps one point in so many, evenly over the run, and never more than CloudPoints.
type cloud struct {
	estimate, run []float64
	stride, seen  int
}

func (c *cloud) add(estimate, run float64) {
	if c.seen%c.stride == 0 {
		if len(c.run) == CloudPoints {
			c.thin()
		}
		if c.seen%c.stride == 0 {
			c.estimate, c.run = append(c.estimate, estimate), append(c.run, run)
		}
	}
	c.seen++
}

// thin drops every second point, and will take half as many.
func (c *cloud) thin() {
	c.stride *= 2
	for i := range CloudPoints / 2 {
		c.estimate[i], c.run[i] = c.estimate[2*i], c.run[2*i]
	}
	c.estimate, c.run = c.estimate[:CloudPoints/2], c.run[:CloudPoints/2]
}

// TypeRuns are tasks of one type, or some of them where there are many: what was estimated and what they
// took, in seconds of trace time.
type TypeRuns struct {
	Type          string
	Tasks         int // of the type
	Estimate, Run []float64
}

// curves fills in what figures of estimates need.
func (e *estimates) curves(c *Curves) {
	percent := make([]float64, len(e.errors))
	for i, share := range e.errors {
		percent[i] = 100 * share
	}
	slices.Sort(percent)
	c.ErrorPercent, c.Misjudged = quantilesOf(percent), e.off
	for name, points := range e.clouds {
		c.Estimates = append(c.Estimates, TypeRuns{name, points.seen, points.estimate, points.run})
	}
	slices.SortFunc(c.Estimates, func(a, b TypeRuns) int { return strings.Compare(a.Type, b.Type) })
}
