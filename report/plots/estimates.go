package plots

import (
	"fmt"
	"slices"

	"dodoor/report/figure"

	"dodoor/report/group"
	"dodoor/report/metrics"
	"dodoor/report/results"
)

func anyMisjudged(lines []group.Line) bool {
	return slices.ContainsFunc(lines, func(l group.Line) bool {
		return slices.ContainsFunc(l.Cell.Runs, func(r *results.Run) bool { return r.Curves.Misjudged })
	})
}

// EstimateNote stands where the figures of estimates would, if those would show nothing.
func EstimateNote(g *group.Group) string {
	estimated := false
	for _, r := range g.Runs {
		if r.Curves.Misjudged {
			return ""
		}
		estimated = estimated || len(r.Curves.ErrorPercent) > 0
	}
	if !estimated {
		return ""
	}
	return fmt.Sprintf("Every task took what had been estimated, to %g %%: there are no figures of estimates.", 100*metrics.Exact)
}

// errorPlot shows how wrong estimates were; nil when they were right.
func errorPlot(lines []group.Line) *Plot {
	if !anyMisjudged(lines) {
		return nil
	}
	return cdfPlot("estimate-error", "Run time against estimate", "(run − estimate) / estimate (%)", false,
		"Share of the tasks whose run time exceeded the estimate that schedulers had by at most so much; below 0, it was shorter.",
		lines, func(c *metrics.Curves) metrics.Quantiles { return c.ErrorPercent })
}

// estimatePlot has a panel per policy with every task type; nil when estimates were right.
func estimatePlot(lines []group.Line) *Plot {
	if !anyMisjudged(lines) {
		return nil
	}
	styles := typeStyles(lines)
	f := &figure.Figure{
		Title: "Run times by estimate", Kind: figure.Scatter, Equal: true,
		X: figure.Axis{Label: "estimate (s)", Log: true}, Y: figure.Axis{Label: "run (s)", Log: true},
	}
	thinned := false
	for _, l := range lines {
		panel := figure.Panel{Title: l.Label}
		for _, t := range l.First().Curves.Estimates {
			x, y := positive(t.Estimate, t.Run)
			y, x = positive(y, x)
			panel.Series = append(panel.Series, figure.Series{Label: t.Type, Style: styles[t.Type], X: x, Y: y})
			thinned = thinned || t.Tasks > len(t.Run)
		}
		f.Panels = append(f.Panels, panel)
	}
	if points(f) == 0 {
		return nil
	}
	p := &Plot{Name: "estimates", Figure: f,
		Caption: "What tasks took by what schedulers had been told, in trace time; one panel per policy, one point per task, on the line where " +
			"the two agree."}
	if thinned {
		p.Caption += fmt.Sprintf(" Of a type with many tasks every so many is drawn, at most %d.", metrics.CloudPoints)
	}
	p.Caption += seedNote(lines)
	return p
}

// typeStyles gives every task type one look in all panels.
func typeStyles(lines []group.Line) map[string]int {
	var names []string
	for _, l := range lines {
		for _, t := range l.First().Curves.Estimates {
			names = append(names, t.Type)
		}
	}
	slices.Sort(names)
	styles := map[string]int{}
	for i, name := range slices.Compact(names) {
		styles[name] = i
	}
	return styles
}
