// Package metrics folds the raw rows of a run into figures, lists what can be asked of them, compares runs, and prints
// both on a terminal.
package metrics

import (
	"cmp"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"

	"dodoor/report/stats"
)

// Summary is summary.json: one run in figures. Counts (tasks by outcome, messages) cover the whole
// run; everything else leaves the warm-up out. Makespan, queue wait, run and start-up time, span and throughput
// are in trace time: wall-clock measurements multiplied by the time scale. Scheduling latency,
// generator lag and WallS are wall-clock time. Latencies are those of tasks that finished.
type Summary struct {
	Policy    string  `json:"policy"`
	On        string  `json:"on"`
	Trace     string  `json:"trace"`
	QPS       float64 `json:"qps"`
	Burst     float64 `json:"burst,omitempty"` // above 1: arrivals come in bursts
	Seed      uint64  `json:"seed"`
	TimeScale float64 `json:"time_scale"`

	Tasks     int `json:"tasks"`
	Completed int `json:"completed"` // finished; the five outcomes add up to Tasks
	Failed    int `json:"failed"`
	TimedOut  int `json:"timed_out"`
	Cancelled int `json:"cancelled"`
	Lost      int `json:"lost"`
	Retried   int `json:"retried"`

	// Completed tasks after the warm-up / (last completion - first arrival after the warm-up).
	ThroughputPerS float64 `json:"throughput_per_s"`
	WallS          float64 `json:"wall_s"` // the denominator above, on the wall
	SpanS          float64 `json:"span_s"` // the same in trace time

	MakespanS      stats.Distribution  `json:"makespan_s"`           // received -> completion known
	QueueWaitS     stats.Distribution  `json:"queue_wait_s"`         // enqueued -> started
	RunS           stats.Distribution  `json:"run_s"`                // started -> finished
	StartupMs      *stats.Distribution `json:"startup_ms,omitempty"` // part of run_s; absent where it is not known apart
	SchedulingMs   stats.Distribution  `json:"scheduling_ms"`        // received -> acknowledged by the worker
	GeneratorLagMs stats.Distribution  `json:"generator_lag_ms"`     // due -> sent

	EstimateError EstimateError `json:"estimate_error"`

	ControlMessagesPerTask float64  `json:"control_messages_per_task"`
	RPCsPerTask            float64  `json:"rpcs_per_task"`
	Messages               Messages `json:"messages"`
	CountersMissing        []string `json:"counters_missing,omitempty"` // services whose messages are not counted

	Utilisation      Utilisation             `json:"utilisation"`
	PerClass         map[string]ClassFigures `json:"per_class"`
	ViewAgeDecisions struct {
		Mean float64 `json:"mean"`
		P95  float64 `json:"p95"`
	} `json:"view_age_decisions"`
}

// Utilisation is demand x run time over capacity x WallS, a share of 1.
type Utilisation struct {
	Cores  float64 `json:"cores"`
	Memory float64 `json:"memory"`
}

// ClassFigures are the figures of one node class.
type ClassFigures struct {
	Tasks            int     `json:"tasks"`
	UtilisationCores float64 `json:"utilisation_cores"`
	IdleAfterS       float64 `json:"idle_after_s"` // first arrival -> last completion on the class, in trace time
}

// Fold gathers the rows of one run.
type Fold struct {
	info *generator.RunInfo
	s    Summary
	sent int // tasks that cost messages

	arrived                 bool
	firstArrival            time.Duration
	lastCompletion          time.Duration
	measured                int // completed after the warm-up
	makespan, wait, run     []float64
	estimates               estimates
	scheduling, lag         []float64
	coreSeconds, mibSeconds float64
	classes                 map[string]*classTotal
	decisions               []decision
	lines                   *timeline // nil unless KeepCurves was called
}

type classTotal struct {
	tasks       int
	coreSeconds float64
	last        time.Duration // completion
}

// decision is a placement in the order in which workers acknowledged them.
type decision struct {
	enqueued time.Duration
	seen     int64 // decisions in the deciding view
	attempts int
	measured bool
}

// NewFold starts the summary of a run.
func NewFold(info *generator.RunInfo) *Fold {
	return &Fold{info: info, classes: map[string]*classTotal{}, estimates: estimates{clouds: map[string]*cloud{}}, s: Summary{
		Policy: info.Policy, On: info.On, Trace: info.Trace, QPS: info.QPS, Burst: info.Burst, Seed: info.Seed, TimeScale: info.TimeScale,
	}}
}

// Add takes one row. Rows may come in any order.
func (f *Fold) Add(r *generator.Row) {
	f.count(r)
	if f.lines != nil {
		f.lines.add(r)
	}
	if !r.Warmup {
		f.measure(r)
	}
	if r.Enqueued != generator.Never {
		f.decisions = append(f.decisions, decision{r.Enqueued, r.ViewDecisions, max(r.Attempts, 1), !r.Warmup})
	}
}

func (f *Fold) count(r *generator.Row) {
	f.s.Tasks++
	switch r.Outcome {
	case cluster.Finished:
		f.s.Completed++
	case cluster.Failed:
		f.s.Failed++
	case cluster.TimedOut:
		f.s.TimedOut++
	case cluster.Cancelled:
		f.s.Cancelled++
	case cluster.Lost:
		f.s.Lost++
	}
	if r.Attempts > 1 {
		f.s.Retried++
	}
	if r.Sent != generator.Never {
		f.sent++
	}
	if r.Class != "" {
		f.class(r.Class).tasks++
	}
}

func (f *Fold) class(name string) *classTotal {
	c := f.classes[name]
	if c == nil {
		c = &classTotal{}
		f.classes[name] = c
	}
	return c
}

func (f *Fold) measure(r *generator.Row) {
	if !f.arrived || r.Scheduled < f.firstArrival {
		f.arrived, f.firstArrival = true, r.Scheduled
	}
	if r.Sent != generator.Never {
		f.lag = append(f.lag, milliseconds(r.Sent-r.Scheduled))
	}
	if r.Started != generator.Never && r.Finished != generator.Never {
		seconds := (r.Finished - r.Started).Seconds()
		f.coreSeconds += float64(r.Cores) / 1000 * seconds
		f.mibSeconds += float64(r.Memory) * seconds
		f.class(r.Class).coreSeconds += float64(r.Cores) / 1000 * seconds
	}
	if r.Outcome != cluster.Finished {
		return
	}
	f.measured++
	f.lastCompletion = max(f.lastCompletion, r.Completed)
	c := f.class(r.Class)
	c.last = max(c.last, r.Completed)
	k := f.info.TimeScale
	f.makespan = append(f.makespan, (r.Completed-r.Received).Seconds()*k)
	f.wait = append(f.wait, (r.Started-r.Enqueued).Seconds()*k)
	f.run = append(f.run, (r.Finished-r.Started).Seconds()*k)
	f.scheduling = append(f.scheduling, milliseconds(r.Enqueued-r.Received))
	f.estimates.add(r, k)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Summary computes the figures of the rows so far.
func (f *Fold) Summary() *Summary {
	s := f.s
	if f.measured > 0 {
		s.WallS = max(0, (f.lastCompletion - f.firstArrival).Seconds())
	}
	s.SpanS = s.WallS * f.info.TimeScale
	s.ThroughputPerS = stats.Ratio(float64(f.measured), s.SpanS)
	s.MakespanS, s.QueueWaitS, s.RunS = stats.DistributionOf(f.makespan), stats.DistributionOf(f.wait), stats.DistributionOf(f.run)
	s.SchedulingMs, s.GeneratorLagMs = stats.DistributionOf(f.scheduling), stats.DistributionOf(f.lag)
	s.EstimateError = f.estimates.summary()
	if len(f.estimates.startup) > 0 {
		startup := stats.DistributionOf(f.estimates.startup)
		s.StartupMs = &startup
	}
	s.Messages, s.CountersMissing = messagesOf(f.info.Before, f.info.After)
	s.ControlMessagesPerTask = stats.Ratio(float64(s.Messages.Control()), float64(f.sent))
	s.RPCsPerTask = stats.Ratio(float64(s.Messages.All()), float64(f.sent))
	f.utilisation(&s)
	age := stats.DistributionOf(f.viewAges())
	s.ViewAgeDecisions.Mean, s.ViewAgeDecisions.P95 = age.Mean, age.P95
	return &s
}

func (f *Fold) utilisation(s *Summary) {
	var cores, memory float64
	capacity := map[string]float64{}
	for _, c := range f.info.Classes {
		cores += float64(c.Nodes) * c.Cores
		memory += float64(c.Nodes) * float64(c.MemoryMB)
		capacity[c.Name] += float64(c.Nodes) * c.Cores
		f.class(c.Name)
	}
	s.Utilisation.Cores = stats.Ratio(f.coreSeconds, cores*s.WallS)
	s.Utilisation.Memory = stats.Ratio(f.mibSeconds, memory*s.WallS)
	s.PerClass = make(map[string]ClassFigures, len(f.classes))
	for name, c := range f.classes {
		s.PerClass[name] = ClassFigures{c.tasks, stats.Ratio(c.coreSeconds, capacity[name]*s.WallS),
			max(0, (c.last-f.firstArrival).Seconds()) * f.info.TimeScale}
	}
}

// viewAges returns, per measured placement, how many placements the deciding view did not contain:
// those acknowledged before it, cluster-wide, less those that the view had counted since the run
// began. It holds for a cluster that serves this run alone. A policy that neither flushed nor was pushed
// to decides without a view: it has no ages.
func (f *Fold) viewAges() []float64 {
	if m, _ := messagesOf(f.info.Before, f.info.After); m.Delta+m.Push == 0 {
		return nil
	}
	slices.SortStableFunc(f.decisions, func(a, b decision) int { return cmp.Compare(a.enqueued, b.enqueued) })
	var ages []float64
	made := f.info.DecisionsBefore
	for _, d := range f.decisions {
		made += int64(d.attempts)
		if d.measured {
			ages = append(ages, float64(made-1-d.seen))
		}
	}
	return ages
}
