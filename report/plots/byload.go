package plots

import (
	"slices"

	"dodoor/report/figure"

	"dodoor/report/group"
	"dodoor/report/metrics"
)

// byQPS are the paper's figures: one number per run, against the load.
var byQPS = []struct {
	metrics.Metric
	file, title, caption string
}{
	{metrics.Throughput, "throughput", "Throughput",
		"Tasks completed per second of trace time, from the first arrival to the last completion after the warm-up."},
	{metrics.MakespanMean, "makespan-mean", "Mean makespan",
		"From when a scheduler received a task to when it knew of the completion, in trace time; mean over tasks."},
	{metrics.MakespanP95, "makespan-p95", "P95 makespan", "The makespan that 95 % of the tasks do not exceed, in trace time."},
	{metrics.SchedulingMean, "scheduling", "Scheduling latency",
		"From when a scheduler received a task to when a worker acknowledged it, mean over tasks. Wall-clock time: the time scale does not " +
			"shorten it."},
	{metrics.ControlMessagesPerTask, "messages", "Control messages per task",
		"Messages that deciding costs: submissions, probes, deltas, pushes and cancellations, over the tasks of the whole run."},
}

const intervalCaption = " Bars are 95 % intervals over seeds (Student's t), side by side where they would hide each other; one without a " +
	"cap goes on outside the axis."

// loadPlots are the figures by QPS or, when there is one QPS only, by policy.
func loadPlots(g *group.Group) []Plot {
	var plots []Plot
	for _, m := range byQPS {
		f := &figure.Figure{
			Title: m.title, Warning: g.Warning(), Kind: figure.Points,
			X: figure.Axis{Label: "arrivals per s (QPS)", Ticks: g.QPS},
			Y: figure.Axis{Label: m.Axis},
		}
		if len(g.QPS) == 1 {
			f.Title += " at " + group.Rate(g.QPS[0])
			f.X = figure.Axis{Label: "policy", Names: blanks(len(g.Policies))}
		}
		panel := figure.Panel{}
		intervals := false
		for i, p := range g.Policies {
			s := figure.Series{Label: p.Shown(), Style: i, Half: []float64{}}
			for _, c := range p.Cells {
				x := c.QPS
				if len(g.QPS) == 1 {
					x = float64(i)
				}
				e := c.Estimate(m.Metric)
				intervals = intervals || e.N > 1
				s.X, s.Y, s.Half = append(s.X, x), append(s.Y, e.Mean), append(s.Half, e.Half)
			}
			panel.Series = append(panel.Series, s)
		}
		f.Panels = []figure.Panel{panel}
		f.Y.Log = wide(panel.Series)
		plot := Plot{Name: m.file, Section: "By load", Caption: m.caption, Figure: f}
		if intervals {
			plot.Caption += intervalCaption
		}
		plots = append(plots, plot)
	}
	return plots
}

// blanks are names of positions that the legend explains.
func blanks(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = " "
	}
	return names
}

// wide reports whether values are so far apart that the small ones would vanish on a linear axis.
func wide(series []figure.Series) bool {
	const factor = 30
	var all []float64
	for _, s := range series {
		all = append(all, s.Y...)
	}
	return len(all) > 0 && slices.Min(all) > 0 && slices.Max(all) > factor*slices.Min(all)
}
