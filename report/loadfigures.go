package report

import (
	"fmt"
	"math"
	"strings"

	"dodoor/report/figure"
)

// cdfPoints is as much as a column of a paper can show.
const cdfPoints = 300

// line is one policy in the figures of one QPS.
type line struct {
	label string
	style int // the same in all figures of a group
	cell  *Cell
}

// first is the run whose course over time is shown: one run has a course, several do not.
func (l *line) first() *Run { return l.cell.Runs[0] }

func (g *Group) linesAt(qps float64) []line {
	var lines []line
	for i := range g.Policies {
		if c := g.Policies[i].At(qps); c != nil {
			label := g.Policies[i].Label
			if !c.Complete() {
				label += " " + incompleteMark
			}
			lines = append(lines, line{label, i, c})
		}
	}
	return lines
}

// plotsAt draws what happened at one load.
func (g *Group) plotsAt(qps float64) []Plot {
	lines := g.linesAt(qps)
	var runs []*Run
	for _, l := range lines {
		runs = append(runs, l.cell.Runs...)
	}
	var plots []Plot
	for _, p := range []*Plot{
		cdfPlot("makespan-cdf", "Makespan", "makespan (s)", true,
			"Share of the tasks whose makespan (trace time) is at most so long.", lines, func(c *Curves) Quantiles { return c.MakespanS }),
		cdfPlot("scheduling-cdf", "Scheduling latency", "scheduling latency (ms)", true,
			"Share of the tasks that a worker had acknowledged so soon after a scheduler received them (wall clock).", lines, func(c *Curves) Quantiles { return c.SchedulingMs }),
		cdfPlot("view-age", "View age", "decisions missing from the view", false,
			"Share of the decisions for which at most so many earlier placements, cluster-wide, were missing from the deciding view. Policies without a view are left out.",
			lines, func(c *Curves) Quantiles { return c.ViewAge }),
		errorPlot(lines),
		estimatePlot(lines),
		waitingPlot(lines),
		blockedPlot(lines),
		placementsPlot(lines),
		utilisationPlot(lines),
		queuePlot(lines),
	} {
		if p == nil {
			continue
		}
		p.Section = "At " + rate(qps)
		p.Name += "-" + fileRate(qps)
		p.Figure.Title += ", " + rate(qps)
		p.Figure.Warning = warningFor(runs)
		plots = append(plots, *p)
	}
	return plots
}

func fileRate(qps float64) string {
	if qps == 0 {
		return "trace-times"
	}
	return "qps" + strings.ReplaceAll(fmt.Sprintf("%g", qps), ".", "_")
}

// cdfPlot draws one distribution per policy, all seeds pooled; nil when no run has any.
func cdfPlot(name, title, axis string, log bool, caption string, lines []line, of func(*Curves) Quantiles) *Plot {
	f := &figure.Figure{
		Title: title, Kind: figure.Curves,
		X: figure.Axis{Label: axis, Log: log},
		Y: figure.Axis{Label: "cumulative share", Max: 1},
	}
	panel := figure.Panel{}
	for _, l := range lines {
		var all []Quantiles
		for _, r := range l.cell.Runs {
			all = append(all, of(r.Curves))
		}
		q := pooled(all)
		if len(q) == 0 {
			continue
		}
		x, y := q.cdf(cdfPoints)
		if log {
			x, y = positive(x, y)
		}
		panel.Series = append(panel.Series, figure.Series{Label: l.label, Style: l.style, X: x, Y: y})
	}
	f.Panels = []figure.Panel{panel}
	if points(f) == 0 {
		return nil
	}
	return &Plot{Name: name, Caption: caption + pooledNote(lines), Figure: f}
}

func pooledNote(lines []line) string {
	for _, l := range lines {
		if len(l.cell.Runs) > 1 {
			return " All seeds together."
		}
	}
	return ""
}

// positive drops what a logarithmic axis cannot show; the shares of the others stay.
func positive(x, y []float64) (px, py []float64) {
	for i := range x {
		if x[i] > 0 {
			px, py = append(px, x[i]), append(py, y[i])
		}
	}
	return px, py
}

func points(f *figure.Figure) int {
	n := 0
	for _, p := range f.Panels {
		for _, s := range p.Series {
			n += len(s.X)
		}
	}
	return n
}

// placementsPlot shows where each policy sent the tasks.
func placementsPlot(lines []line) *Plot {
	return classBars("placements", "Placements by class", "share of tasks (%)",
		"Where each policy placed the tasks: the share that went to each class of nodes (mean over seeds).", lines,
		func(r *Run, c *ClassCurve) float64 {
			total := 0
			for i := range r.Curves.Classes {
				total += r.Curves.Classes[i].Placements
			}
			return 100 * ratio(float64(c.Placements), float64(total))
		})
}

// blockedPlot shows where the head of line blocked.
func blockedPlot(lines []line) *Plot {
	return classBars("blocked", "Blocked by the head of line", "idle cores (%)",
		fmt.Sprintf("Cores that were free at a node while a task waited at that very node, because the task at the head of its line needed more than was free: "+
			"share of the class's cores, averaged from the first arrival to the last completion after the warm-up, and over seeds. Exact from the times of every task; "+
			"spells under %v of wall-clock time are left out as noise.", noise),
		lines, func(_ *Run, c *ClassCurve) float64 { return 100 * c.Blocked })
}

// classBars has a group of bars per class and a bar per policy; nil when no run knows of classes.
func classBars(name, title, axis, caption string, lines []line, of func(*Run, *ClassCurve) float64) *Plot {
	classes := lines[0].first().Curves.Classes
	f := &figure.Figure{Title: title, Kind: figure.Bars, X: figure.Axis{Label: "node class", Names: []string{}}, Y: figure.Axis{Label: axis}}
	for _, c := range classes {
		f.X.Names = append(f.X.Names, c.Name)
	}
	panel := figure.Panel{}
	for _, l := range lines {
		s := figure.Series{Label: l.label, Style: l.style}
		for i := range classes {
			sum := 0.0
			for _, r := range l.cell.Runs {
				sum += of(r, &r.Curves.Classes[i])
			}
			if !math.IsNaN(sum) {
				s.X, s.Y = append(s.X, float64(i)), append(s.Y, sum/float64(len(l.cell.Runs)))
			}
		}
		panel.Series = append(panel.Series, s)
	}
	f.Panels = []figure.Panel{panel}
	if points(f) == 0 {
		return nil
	}
	return &Plot{Name: name, Caption: caption, Figure: f}
}
