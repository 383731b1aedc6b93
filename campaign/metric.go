package campaign

import (
	"math"

	"dodoor/report"
)

// Metric is a figure of a run.
type Metric struct {
	Head   string // of its column, with the unit
	Of     func(*report.Summary) float64
	Digits int // after the point, always; 0: as many as the value can bear
}

// The figures of the page. Makespan and throughput are in trace time, as everywhere in this project.
var (
	throughput = Metric{"tasks/s", func(s *report.Summary) float64 { return s.ThroughputPerS }, 0}
	mean       = Metric{"mean (s)", func(s *report.Summary) float64 { return s.MakespanS.Mean }, 0}
	p95        = Metric{"P95 (s)", func(s *report.Summary) float64 { return s.MakespanS.P95 }, 0}
	p99        = Metric{"P99 (s)", func(s *report.Summary) float64 { return s.MakespanS.P99 }, 0}
	control    = Metric{"control msgs/task", func(s *report.Summary) float64 { return s.ControlMessagesPerTask }, 3}
	messages   = Metric{"control msgs", func(s *report.Summary) float64 { return float64(s.Messages.Control()) }, 0}
	schedP50   = Metric{"sched. p50 (ms)", func(s *report.Summary) float64 { return s.SchedulingMs.P50 }, 2}
	schedP95   = Metric{"sched. p95 (ms)", func(s *report.Summary) float64 { return s.SchedulingMs.P95 }, 2}
	schedP99   = Metric{"sched. p99 (ms)", func(s *report.Summary) float64 { return s.SchedulingMs.P99 }, 2}
	schedMean  = Metric{"sched. mean (ms)", func(s *report.Summary) float64 { return s.SchedulingMs.Mean }, 2}
	schedMax   = Metric{"sched. max (ms)", func(s *report.Summary) float64 { return s.SchedulingMs.Max }, 2}
	viewAge    = Metric{"view age (decisions)", ageOfView, 0}
	used       = Metric{"cores used (%)", func(s *report.Summary) float64 { return 100 * s.Utilisation.Cores }, 1}
	retried    = Metric{"retried", func(s *report.Summary) float64 { return float64(s.Retried) }, 1}
	unfinished = Metric{"lost or failed", func(s *report.Summary) float64 { return float64(s.Tasks - s.Completed) }, 1}
)

// usedBy is how much of a class's cores was in use.
func usedBy(class string) Metric {
	return Metric{class + " (%)", func(s *report.Summary) float64 { return 100 * s.PerClass[class].UtilisationCores }, 1}
}

// ageOfView is how many decisions the deciding view lacked. Policies that have none have no such age.
func ageOfView(s *report.Summary) float64 {
	if s.Messages.Delta+s.Messages.Push == 0 {
		return math.NaN()
	}
	return s.ViewAgeDecisions.Mean
}
