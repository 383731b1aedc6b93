package metrics

import (
	"dodoor/report/stats"
)

// Metric is one figure of a run. Tables, CSV, JSON, plots and campaigns pick metrics by name, so that a figure is
// computed, called and measured the same everywhere.
type Metric struct {
	Key    string // in CSV and in the JSON of a comparison; empty where neither has it
	Name   string // in a table on a page
	Short  string // in a table on a terminal; empty where none has it
	Unit   string // empty where the name says it, or there is none
	Axis   string // label of a plot's axis; empty where no plot has it
	Digits int    // after the point, always; 0: as many as the value can bear
	Better Better
	Of     func(*Summary) float64
}

// Better is the sign of an improvement; 0 where a figure is neither good nor bad.
type Better int

// The directions in which a figure improves.
const (
	Less Better = -1
	More Better = 1
)

// Head is a column's head: the name with the unit.
func (m *Metric) Head() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// Named is the metric in a table whose legend explains a shorter name.
func (m Metric) Named(name string) Metric {
	m.Name = name
	return m
}

const (
	makespanAxis   = "makespan (s)"
	schedulingAxis = "scheduling latency (ms)"
)

// The figures of a run. What they mean and their clocks: Summary.
var (
	Throughput = Metric{Key: "throughput_per_s", Name: "tasks/s", Short: "tasks/s", Axis: "completed tasks per s", Better: More,
		Of: func(s *Summary) float64 { return s.ThroughputPerS }}
	Wall = Metric{Key: "wall_s", Of: func(s *Summary) float64 { return s.WallS }}

	MakespanMean = Metric{Key: "makespan_mean_s", Name: "mean", Short: "mean", Unit: "s", Axis: makespanAxis, Better: Less,
		Of: func(s *Summary) float64 { return s.MakespanS.Mean }}
	MakespanP50 = Metric{Key: "makespan_p50_s", Name: "P50", Short: "p50", Unit: "s", Axis: makespanAxis, Better: Less,
		Of: func(s *Summary) float64 { return s.MakespanS.P50 }}
	MakespanP95 = Metric{Key: "makespan_p95_s", Name: "P95", Short: "p95", Unit: "s", Axis: makespanAxis, Better: Less,
		Of: func(s *Summary) float64 { return s.MakespanS.P95 }}
	MakespanP99 = Metric{Key: "makespan_p99_s", Name: "P99", Short: "p99", Unit: "s", Axis: makespanAxis, Better: Less,
		Of: func(s *Summary) float64 { return s.MakespanS.P99 }}
	MakespanMax = Metric{Key: "makespan_max_s", Of: func(s *Summary) float64 { return s.MakespanS.Max }}

	QueueWaitMean = Metric{Key: "queue_wait_mean_s", Name: "wait", Short: "wait", Unit: "s", Better: Less,
		Of: func(s *Summary) float64 { return s.QueueWaitS.Mean }}
	QueueWaitP95 = Metric{Key: "queue_wait_p95_s", Of: func(s *Summary) float64 { return s.QueueWaitS.P95 }}
	RunMean      = Metric{Key: "run_mean_s", Of: func(s *Summary) float64 { return s.RunS.Mean }}
	StartupMean  = Metric{Key: "startup_mean_ms", Of: func(s *Summary) float64 { return s.startup().Mean }}
	StartupP95   = Metric{Key: "startup_p95_ms", Of: func(s *Summary) float64 { return s.startup().P95 }}

	EstimateErrorMean = Metric{Key: "estimate_error_mean", Of: func(s *Summary) float64 { return s.EstimateError.Mean }}
	EstimateErrorP95  = Metric{Key: "estimate_error_p95", Of: func(s *Summary) float64 { return s.EstimateError.P95 }}
	EstimateBias      = Metric{Key: "estimate_bias", Of: func(s *Summary) float64 { return s.EstimateError.Bias }}

	SchedulingMean = Metric{Key: "scheduling_mean_ms", Name: "sched. mean", Short: "sched", Unit: "ms", Axis: schedulingAxis, Better: Less,
		Of: func(s *Summary) float64 { return s.SchedulingMs.Mean }}
	SchedulingP50 = Metric{Name: "sched. p50", Unit: "ms", Better: Less, Of: func(s *Summary) float64 { return s.SchedulingMs.P50 }}
	SchedulingP95 = Metric{Key: "scheduling_p95_ms", Name: "sched. p95", Short: "p95", Unit: "ms", Better: Less,
		Of: func(s *Summary) float64 { return s.SchedulingMs.P95 }}
	SchedulingP99 = Metric{Key: "scheduling_p99_ms", Name: "sched. p99", Unit: "ms", Better: Less,
		Of: func(s *Summary) float64 { return s.SchedulingMs.P99 }}
	SchedulingMax   = Metric{Name: "sched. max", Unit: "ms", Better: Less, Of: func(s *Summary) float64 { return s.SchedulingMs.Max }}
	GeneratorLagP95 = Metric{Key: "generator_lag_p95_ms", Of: func(s *Summary) float64 { return s.GeneratorLagMs.P95 }}

	ControlMessages        = Metric{Name: "control msgs", Better: Less, Of: func(s *Summary) float64 { return float64(s.Messages.Control()) }}
	ControlMessagesPerTask = Metric{Key: "control_messages_per_task", Name: "control msgs/task", Short: "ctl/task", Axis: "messages per task",
		Digits: 3, Better: Less, Of: func(s *Summary) float64 { return s.ControlMessagesPerTask }}
	RPCsPerTask = Metric{Key: "rpcs_per_task", Name: "RPCs/task", Short: "rpc/task", Digits: 2, Better: Less,
		Of: func(s *Summary) float64 { return s.RPCsPerTask }}

	UtilisationCores  = Metric{Key: "utilisation_cores", Of: func(s *Summary) float64 { return s.Utilisation.Cores }}
	CoresUsed         = Metric{Name: "cores used", Unit: "%", Digits: 1, Of: func(s *Summary) float64 { return 100 * s.Utilisation.Cores }}
	UtilisationMemory = Metric{Key: "utilisation_memory", Of: func(s *Summary) float64 { return s.Utilisation.Memory }}
	ViewAgeMean       = Metric{Key: "view_age_mean", Name: "view age", Unit: "decisions", Better: Less,
		Of: func(s *Summary) float64 { return s.ViewAgeDecisions.Mean }}
	ViewAgeP95 = Metric{Key: "view_age_p95", Of: func(s *Summary) float64 { return s.ViewAgeDecisions.P95 }}

	Retried    = Metric{Name: "retried", Digits: 1, Better: Less, Of: func(s *Summary) float64 { return float64(s.Retried) }}
	Unfinished = Metric{Name: "lost or failed", Digits: 1, Better: Less,
		Of: func(s *Summary) float64 { return float64(s.Tasks - s.Completed) }}
)

// CoresUsedBy is how much of a class's cores was in use.
func CoresUsedBy(class string) Metric {
	return Metric{Name: class, Unit: "%", Digits: 1, Of: func(s *Summary) float64 { return 100 * s.PerClass[class].UtilisationCores }}
}

// IdleAfter is when a class's last task ended.
func IdleAfter(class string) Metric {
	return Metric{Name: class, Unit: "s", Of: func(s *Summary) float64 { return s.PerClass[class].IdleAfterS }}
}

// startup is 0 throughout where it is not known apart.
func (s *Summary) startup() stats.Distribution {
	if s.StartupMs == nil {
		return stats.Distribution{}
	}
	return *s.StartupMs
}
