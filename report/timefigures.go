package report

import (
	"fmt"

	"dodoor/report/figure"
)

const overTime = " Warm-up included; each point is the exact mean of its stretch of trace time."

func utilisationPlot(lines []line) *Plot {
	p := classPanels(lines, func(c *ClassCurve) []float64 { return c.Utilisation }, 100)
	if p == nil {
		return nil
	}
	p.Name, p.Figure.Title, p.Figure.Y.Label = "utilisation", "Utilisation by class", "cores used (%)"
	p.Caption = "Cores that running tasks had reserved, share of the class's cores; one panel per policy." + p.Caption
	return p
}

func queuePlot(lines []line) *Plot {
	p := classPanels(lines, func(c *ClassCurve) []float64 { return c.Queue }, 1)
	if p == nil {
		return nil
	}
	p.Name, p.Figure.Title, p.Figure.Y.Label = "queue", "Queue length by class", "tasks per node"
	p.Caption = "Tasks that waited at a node, mean over the nodes of the class; one panel per policy." + p.Caption
	return p
}

// classPanels has a panel per policy with a line per class; nil when no run knows of classes.
func classPanels(lines []line, of func(*ClassCurve) []float64, factor float64) *Plot {
	f := &figure.Figure{Kind: figure.Curves, X: figure.Axis{Label: "trace time (s)"}}
	for _, l := range lines {
		panel := figure.Panel{Title: l.label}
		curves := l.first().Curves
		for i := range curves.Classes {
			c := &curves.Classes[i]
			panel.Series = append(panel.Series, overBins(c.Name, i, curves.BinS, of(c), factor))
		}
		f.Panels = append(f.Panels, panel)
	}
	if points(f) == 0 {
		return nil
	}
	return &Plot{Caption: overTime + seedNote(lines), Figure: f}
}

func waitingPlot(lines []line) *Plot {
	f := &figure.Figure{
		Title: "Waiting tasks", Kind: figure.Curves,
		X: figure.Axis{Label: "trace time (s)"}, Y: figure.Axis{Label: "waiting tasks"},
	}
	panel := figure.Panel{}
	for _, l := range lines {
		c := l.first().Curves
		panel.Series = append(panel.Series, overBins(l.label, l.style, c.BinS, c.Waiting, 1))
	}
	f.Panels = []figure.Panel{panel}
	return &Plot{Name: "waiting", Caption: "Tasks that were at a worker and had not started, in the whole cluster." + overTime + seedNote(lines), Figure: f}
}

// overBins draws a value in the middle of its bin.
func overBins(label string, style int, width float64, values []float64, factor float64) figure.Series {
	s := figure.Series{Label: label, Style: style}
	for i, v := range values {
		s.X, s.Y = append(s.X, (float64(i)+0.5)*width), append(s.Y, v*factor)
	}
	return s
}

// seedNote says which run is shown where there are several.
func seedNote(lines []line) string {
	for _, l := range lines {
		if len(l.cell.Runs) > 1 {
			return fmt.Sprintf(" The runs of seed %d.", lines[0].first().Seed)
		}
	}
	return ""
}
