// Package plots draws the figures of a group of runs.
package plots

import (
	"slices"

	"dodoor/report/figure"
	"dodoor/report/group"
)

// Plot is a figure with its file name (without extension) and the caption that explains it.
type Plot struct {
	Name    string
	Section string // of the page
	Caption string
	Figure  *figure.Figure
}

// Of draws a group. A figure that has nothing to show, as the view age of policies that have no
// view, is left out.
func Of(g *group.Group) []Plot {
	plots := loadPlots(g)
	for _, qps := range extremes(g) {
		plots = append(plots, plotsAt(g, qps)...)
	}
	return plots
}

// extremes are the lowest and the highest load: figures of tasks and times are drawn for these.
func extremes(g *group.Group) []float64 {
	return slices.Compact([]float64{g.QPS[0], g.QPS[len(g.QPS)-1]})
}
