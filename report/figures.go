package report

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/report/figure"
)

// Plot is a figure with its file name (without extension) and the caption that explains it.
type Plot struct {
	Name    string
	Section string // of the page
	Caption string
	Figure  *figure.Figure
}

// byQPS are the paper's figures: one number per run, against the load.
var byQPS = []struct {
	name, title, axis, caption string
	of                         func(*Summary) float64
}{
	{"throughput", "Throughput", "completed tasks per s",
		"Tasks completed per second of trace time, from the first arrival to the last completion after the warm-up.",
		func(s *Summary) float64 { return s.ThroughputPerS }},
	{"makespan-mean", "Mean makespan", "makespan (s)",
		"From when a scheduler received a task to when it knew of the completion, in trace time; mean over tasks.",
		func(s *Summary) float64 { return s.MakespanS.Mean }},
	{"makespan-p95", "P95 makespan", "makespan (s)",
		"The makespan that 95 % of the tasks do not exceed, in trace time.",
		func(s *Summary) float64 { return s.MakespanS.P95 }},
	{"scheduling", "Scheduling latency", "scheduling latency (ms)",
		"From when a scheduler received a task to when a worker acknowledged it, mean over tasks. Wall-clock time: the time scale does not shorten it.",
		func(s *Summary) float64 { return s.SchedulingMs.Mean }},
	{"messages", "Control messages per task", "messages per task",
		"Messages that deciding costs: submissions, probes, deltas, pushes, confirmations and cancellations, over the tasks of the whole run.",
		func(s *Summary) float64 { return s.ControlMessagesPerTask }},
}

const intervalCaption = " Bars are 95 % intervals over seeds (Student's t), side by side where they would hide each other; one without a cap goes on outside the axis."

// Plots draws a group. A figure that has nothing to show, as the view age of policies that have no
// view, is left out.
func (g *Group) Plots() []Plot {
	plots := g.loadPlots()
	for _, qps := range g.extremes() {
		plots = append(plots, g.plotsAt(qps)...)
	}
	return plots
}

// extremes are the lowest and the highest load: figures of tasks and times are drawn for these.
func (g *Group) extremes() []float64 {
	return slices.Compact([]float64{g.QPS[0], g.QPS[len(g.QPS)-1]})
}

// loadPlots are the figures by QPS or, when there is one QPS only, by policy.
func (g *Group) loadPlots() []Plot {
	var plots []Plot
	for _, m := range byQPS {
		f := &figure.Figure{
			Title: m.title, Warning: g.warning(), Kind: figure.Points,
			X: figure.Axis{Label: "arrivals per s (QPS)", Ticks: g.QPS},
			Y: figure.Axis{Label: m.axis},
		}
		if len(g.QPS) == 1 {
			f.Title += " at " + rate(g.QPS[0])
			f.X = figure.Axis{Label: "policy", Names: blanks(len(g.Policies))}
		}
		panel := figure.Panel{}
		intervals := false
		for i, p := range g.Policies {
			s := figure.Series{Label: p.shown(), Style: i, Half: []float64{}}
			for _, c := range p.Cells {
				x := c.QPS
				if len(g.QPS) == 1 {
					x = float64(i)
				}
				e := c.Estimate(m.of)
				intervals = intervals || e.N > 1
				s.X, s.Y, s.Half = append(s.X, x), append(s.Y, e.Mean), append(s.Half, e.Half)
			}
			panel.Series = append(panel.Series, s)
		}
		f.Panels = []figure.Panel{panel}
		f.Y.Log = wide(panel.Series)
		plot := Plot{Name: m.name, Section: "By load", Caption: m.caption, Figure: f}
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

// rate names a load in titles.
func rate(qps float64) string {
	if qps == 0 {
		return "the trace's own times"
	}
	return fmt.Sprintf("QPS %g", qps)
}

// incompleteMark flags runs in which not every task finished, wherever they appear.
const incompleteMark = "INCOMPLETE"

// shown is the policy's name in a legend of all its cells.
func (p *Policy) shown() string {
	for i := range p.Cells {
		if !p.Cells[i].Complete() {
			return p.Label + " " + incompleteMark
		}
	}
	return p.Label
}

func (g *Group) warning() string {
	return warningFor(g.Runs)
}

// warningFor is drawn into every figure that an incomplete run is part of.
func warningFor(runs []*Run) string {
	var names []string
	n := 0
	for _, r := range runs {
		if !r.Complete() {
			n++
			names = append(names, r.Policy)
		}
	}
	if n == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("%s: %d of %d runs (%s)", incompleteMark, n, len(runs), strings.Join(slices.Compact(names), ", "))
}
