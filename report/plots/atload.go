package plots

import (
	"fmt"
	"math"
	"strings"

	"dodoor/report/figure"

	"dodoor/report/group"
	"dodoor/report/metrics"
	"dodoor/report/results"
	"dodoor/report/stats"
)

// cdfPoints is as much as a column of a paper can show.
const cdfPoints = 300

// plotsAt draws what happened at one load.
func plotsAt(g *group.Group, qps float64) []Plot {
	lines := g.At(qps)
	var runs []*results.Run
	for _, l := range lines {
		runs = append(runs, l.Cell.Runs...)
	}
	var plots []Plot
	for _, p := range []*Plot{
		cdfPlot("makespan-cdf", "Makespan", metrics.MakespanMean.Axis, true,
			"Share of the tasks whose makespan (trace time) is at most so long.", lines,
			func(c *metrics.Curves) metrics.Quantiles { return c.MakespanS }),
		cdfPlot("scheduling-cdf", "Scheduling latency", metrics.SchedulingMean.Axis, true,
			"Share of the tasks that a worker had acknowledged so soon after a scheduler received them (wall clock).", lines,
			func(c *metrics.Curves) metrics.Quantiles { return c.SchedulingMs }),
		cdfPlot("view-age", "View age", "decisions missing from the view", false,
			"Share of the decisions for which at most so many earlier placements, cluster-wide, were missing from the deciding view. Policies "+
				"without a view are left out.",
			lines, func(c *metrics.Curves) metrics.Quantiles { return c.ViewAge }),
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
		p.Section = "At " + group.Rate(qps)
		p.Name += "-" + fileRate(qps)
		p.Figure.Title += ", " + group.Rate(qps)
		p.Figure.Warning = group.Warning(runs)
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
func cdfPlot(name, title, axis string, log bool, caption string, lines []group.Line, of func(*metrics.Curves) metrics.Quantiles) *Plot {
	f := &figure.Figure{
		Title: title, Kind: figure.Curves,
		X: figure.Axis{Label: axis, Log: log},
		Y: figure.Axis{Label: "cumulative share", Max: 1},
	}
	panel := figure.Panel{}
	for _, l := range lines {
		var all []metrics.Quantiles
		for _, r := range l.Cell.Runs {
			all = append(all, of(r.Curves))
		}
		q := metrics.Pooled(all)
		if len(q) == 0 {
			continue
		}
		x, y := q.CDF(cdfPoints)
		if log {
			x, y = positive(x, y)
		}
		panel.Series = append(panel.Series, figure.Series{Label: l.Label, Style: l.Style, X: x, Y: y})
	}
	f.Panels = []figure.Panel{panel}
	if points(f) == 0 {
		return nil
	}
	return &Plot{Name: name, Caption: caption + pooledNote(lines), Figure: f}
}

func pooledNote(lines []group.Line) string {
	for _, l := range lines {
		if len(l.Cell.Runs) > 1 {
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
func placementsPlot(lines []group.Line) *Plot {
	return classBars("placements", "Placements by class", "share of tasks (%)",
		"Where each policy placed the tasks: the share that went to each class of nodes (mean over seeds).", lines,
		func(r *results.Run, c *metrics.ClassCurve) float64 {
			total := 0
			for i := range r.Curves.Classes {
				total += r.Curves.Classes[i].Placements
			}
			return 100 * stats.Ratio(float64(c.Placements), float64(total))
		})
}

// blockedPlot shows where the head of line blocked.
func blockedPlot(lines []group.Line) *Plot {
	return classBars("blocked", "Blocked by the head of line", "idle cores (%)",
		fmt.Sprintf("Cores that were free at a node while a task waited at that very node, because the task at the head of its line needed "+
			"more than was free: "+
			"share of the class's cores, averaged from the first arrival to the last completion after the warm-up, and over seeds. Exact from the "+
			"times of every task; "+
			"spells under %v of wall-clock time are left out as noise.", metrics.Noise),
		lines, func(_ *results.Run, c *metrics.ClassCurve) float64 { return 100 * c.Blocked })
}

// classBars has a group of bars per class and a bar per policy; nil when no run knows of classes.
func classBars(name, title, axis, caption string, lines []group.Line, of func(*results.Run, *metrics.ClassCurve) float64) *Plot {
	classes := lines[0].First().Curves.Classes
	f := &figure.Figure{Title: title, Kind: figure.Bars, X: figure.Axis{Label: "node class", Names: []string{}}, Y: figure.Axis{Label: axis}}
	for _, c := range classes {
		f.X.Names = append(f.X.Names, c.Name)
	}
	panel := figure.Panel{}
	for _, l := range lines {
		s := figure.Series{Label: l.Label, Style: l.Style}
		for i := range classes {
			var values []float64
			for _, r := range l.Cell.Runs {
				values = append(values, of(r, &r.Curves.Classes[i]))
			}
			if average := stats.Mean(values); !math.IsNaN(average) {
				s.X, s.Y = append(s.X, float64(i)), append(s.Y, average)
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
