package campaign

import (
	"math"

	"dodoor/report/metrics"
)

// Metric is a figure of an outcome.
type Metric struct {
	metrics.Metric
	of func(*Outcome) float64
}

// summed is a figure of a run's summary.
func summed(m metrics.Metric) Metric {
	return Metric{m, func(o *Outcome) float64 { return m.Of(o.Summary) }}
}

// hundredths writes a latency as the paper does.
func hundredths(m metrics.Metric) Metric {
	m.Digits = 2
	return summed(m)
}

// byClock are throughput and P99 makespan by a clock.
func byClock(c Clock) (rate, tail Metric) {
	return Metric{metrics.Throughput, func(o *Outcome) float64 { return o.Readings[c].ThroughputPerS }},
		Metric{metrics.MakespanP99, func(o *Outcome) float64 { return o.Readings[c].P99S }}
}

// The figures of the page. Makespan and throughput are in trace time, as everywhere in this project.
var (
	throughput = summed(metrics.Throughput)
	mean       = summed(metrics.MakespanMean)
	p95        = summed(metrics.MakespanP95)
	p99        = summed(metrics.MakespanP99)
	control    = summed(metrics.ControlMessagesPerTask)
	messages   = summed(metrics.ControlMessages)
	schedP50   = hundredths(metrics.SchedulingP50)
	schedP95   = hundredths(metrics.SchedulingP95)
	schedP99   = hundredths(metrics.SchedulingP99)
	schedMean  = hundredths(metrics.SchedulingMean)
	schedMax   = hundredths(metrics.SchedulingMax)
	viewAge    = Metric{metrics.ViewAgeMean, ageOfView}
	used       = summed(metrics.CoresUsed)
	retried    = summed(metrics.Retried)
	unfinished = summed(metrics.Unfinished)
)

// ageOfView is how many decisions the deciding view lacked. Policies that have none have no such age.
func ageOfView(o *Outcome) float64 {
	if m := o.Summary.Messages; m.Delta+m.Push == 0 {
		return math.NaN()
	}
	return metrics.ViewAgeMean.Of(o.Summary)
}
