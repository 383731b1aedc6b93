package campaign

import (
	"fmt"
	"time"

	"dodoor/report/metrics"
	"dodoor/report/stats"
)

// Outcome is one simulated run.
type Outcome struct {
	Summary  *metrics.Summary
	Readings map[Clock]Reading // of a Stopwatch
	Course   Course
	Events   int64
	Took     time.Duration // on this machine; 0: nobody measured it
}

// Results are the outcomes of a plan.
type Results struct {
	outcomes map[string][]*Outcome // by key of the cell, in the order of the seeds
}

// of returns the outcomes of a setting. Every setting that a page speaks of has been planned.
func (r *Results) of(c Cell) []*Outcome {
	found := r.outcomes[c.key()]
	if len(found) == 0 {
		panic(fmt.Sprintf("campaign: a page speaks of a setting that no study lists: %s", c.key()))
	}
	return found
}

func (r *Results) values(c Cell, m Metric) []float64 {
	var values []float64
	for _, o := range r.of(c) {
		values = append(values, m.of(o))
	}
	return values
}

// estimate is the mean of a figure over the seeds, with its interval.
func (r *Results) estimate(c Cell, m Metric) stats.Estimate {
	return stats.EstimateOf(r.values(c, m))
}

func (r *Results) mean(c Cell, m Metric) float64 { return r.estimate(c, m).Mean }

// change is how much a figure differs between two settings, over the seeds that both have.
func (r *Results) change(c, against Cell, m Metric) stats.Change {
	return stats.PairedChange(r.values(c, m), r.values(against, m))
}

// valueOf is a figure of a setting in a text.
func valueOf(c Cell, m Metric) Figure {
	return func(r *Results) string { return m.text(r.mean(c, m)) }
}

// timesOf is how many times the mean makespan of a setting is that of another.
func timesOf(c, against Cell) Figure {
	return func(r *Results) string { return decimal(r.mean(c, mean)/r.mean(against, mean), 2) }
}

// shiftOf is the change of the mean makespan between two settings, in per cent.
func shiftOf(c, against Cell) Figure {
	return func(r *Results) string { return percent(r.change(c, against, mean).Mean) + " %" }
}

// complete reports whether every task of every run of a setting finished.
func (r *Results) complete(c Cell) bool {
	for _, o := range r.of(c) {
		if o.Summary.Completed != o.Summary.Tasks {
			return false
		}
	}
	return true
}

// took is what the runs of a setting needed on this machine, per run, and their events per second.
func (r *Results) took(c Cell) (each time.Duration, perSecond float64) {
	var events int64
	runs := r.of(c)
	for _, o := range runs {
		each += o.Took
		events += o.Events
	}
	if each > 0 {
		perSecond = float64(events) / each.Seconds()
	}
	return each / time.Duration(len(runs)), perSecond
}
