package calibrate

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"dodoor/conf"
	"dodoor/report/metrics"
	"dodoor/report/stats"
)

// Pair is two runs with the same seed, hence the same arrivals and tasks.
type Pair struct{ Local, Sim *metrics.Summary }

// Row is one cell: what real services made of it, what the simulator did, and whether that is the same.
type Row struct {
	Trace     string  `json:"trace"`
	Policy    string  `json:"policy"`
	QPS       float64 `json:"qps"`
	Tasks     int     `json:"tasks"`
	TimeScale float64 `json:"time_scale"`
	Seeds     int     `json:"seeds"`

	Local Figures `json:"local"`
	Sim   Figures `json:"sim"`

	MakespanMean    Difference `json:"makespan_mean_difference"`
	MakespanP95     Difference `json:"makespan_p95_difference"`
	ControlMessages Difference `json:"control_messages_difference"`

	Verdict Verdict `json:"verdict"`
	name    string
}

// Figures are means over the seeds.
type Figures struct {
	MakespanMeanS          float64 `json:"makespan_mean_s"` // in trace time
	MakespanP95S           float64 `json:"makespan_p95_s"`
	SchedulingP50Ms        float64 `json:"scheduling_p50_ms"` // on the wall
	ControlMessagesPerTask float64 `json:"control_messages_per_task"`
}

// Difference is sim/local - 1 over pairs, with its interval by Student's t.
type Difference struct {
	stats.Change
	Verdict Verdict `json:"verdict"`
}

// sameMessages bounds by what share control messages per task may differ: the last flush or push of a run
// may still be owed when it ends.
const sameMessages = 0.001

func figuresOf(s *metrics.Summary) Figures {
	return Figures{s.MakespanS.Mean, s.MakespanS.P95, s.SchedulingMs.P50, s.ControlMessagesPerTask}
}

// NewRow judges the pairs of a cell. The tolerance is for makespans.
func NewRow(c *conf.Config, pairs []Pair, tolerance float64) Row {
	g := &c.Generator
	r := Row{Trace: g.Trace, Policy: c.Scheduler.Policy, QPS: g.QPS, Tasks: g.N, TimeScale: g.TimeScale, Seeds: len(pairs), name: Name(c)}
	var local, simulated []Figures
	for _, p := range pairs {
		local, simulated = append(local, figuresOf(p.Local)), append(simulated, figuresOf(p.Sim))
	}
	compare := func(tolerance float64, of func(*Figures) *float64) Difference {
		a, b := column(local, of), column(simulated, of)
		*of(&r.Local), *of(&r.Sim) = stat.Mean(a, nil), stat.Mean(b, nil)
		d := stats.FewPairs(b, a)
		return Difference{d, judge(d, tolerance)}
	}
	r.MakespanMean = compare(tolerance, func(f *Figures) *float64 { return &f.MakespanMeanS })
	r.MakespanP95 = compare(tolerance, func(f *Figures) *float64 { return &f.MakespanP95S })
	r.ControlMessages = compare(sameMessages, func(f *Figures) *float64 { return &f.ControlMessagesPerTask })
	compare(0, func(f *Figures) *float64 { return &f.SchedulingP50Ms }) // shown, not judged
	r.Verdict = together(r.MakespanMean.Verdict, r.MakespanP95.Verdict, r.ControlMessages.Verdict)
	return r
}

func column(runs []Figures, of func(*Figures) *float64) []float64 {
	values := make([]float64, len(runs))
	for i := range runs {
		values[i] = *of(&runs[i])
	}
	return values
}

// differences names the judged figures.
func (r *Row) differences() []named {
	return []named{
		{"mean", "mean makespan", r.MakespanMean},
		{"P95", "P95 makespan", r.MakespanP95},
		{"ctl/task", "control messages per task", r.ControlMessages},
	}
}

type named struct {
	short, what string
	Difference
}

// Failures says which cells differ, and in what; nil if none does.
func Failures(rows []Row) error {
	var all []error
	for i := range rows {
		var found []string
		for _, d := range rows[i].differences() {
			if d.Verdict == Differs {
				found = append(found, fmt.Sprintf("%s %s %%", d.what, percent(d.Change)))
			}
		}
		if len(found) > 0 {
			all = append(all, fmt.Errorf("%s differs: %s", rows[i].name, strings.Join(found, ", ")))
		}
	}
	return errors.Join(all...)
}

// percent prints a difference and its interval.
func percent(c stats.Change) string {
	return fmt.Sprintf("%+.1f [%+.1f, %+.1f]", 100*c.Mean, 100*c.Low, 100*c.High)
}
