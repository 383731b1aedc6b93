package plots

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/report/figure"

	"dodoor/report/group"
	"dodoor/report/metrics"
)

const overTime = " Warm-up included; each point is the exact mean of its stretch of trace time."

func utilisationPlot(lines []group.Line) *Plot {
	p := classPanels(lines, func(c *metrics.ClassCurve) []float64 { return c.Utilisation }, 100)
	if p == nil {
		return nil
	}
	p.Name, p.Figure.Title, p.Figure.Y.Label = "utilisation", "Utilisation by class", metrics.CoresUsed.Head()
	p.Caption = "Cores that running tasks had reserved, share of the class's cores; one panel per policy." + p.Caption
	return p
}

func queuePlot(lines []group.Line) *Plot {
	p := classPanels(lines, func(c *metrics.ClassCurve) []float64 { return c.Queue }, 1)
	if p == nil {
		return nil
	}
	p.Name, p.Figure.Title, p.Figure.Y.Label = "queue", "Queue length by class", "tasks per node"
	p.Caption = "Tasks that waited at a node, mean over the nodes of the class; one panel per policy." + p.Caption
	return p
}

// classPanels has a panel per policy with a line per class; nil when no run knows of classes.
func classPanels(lines []group.Line, of func(*metrics.ClassCurve) []float64, factor float64) *Plot {
	f := &figure.Figure{Kind: figure.Curves, X: figure.Axis{Label: "trace time (s)"}}
	until, cut := timeAxis(lines)
	var peaks []float64
	for _, l := range lines {
		panel := figure.Panel{Title: l.Label}
		curves := l.First().Curves
		peak := 0.0
		for i := range curves.Classes {
			c := &curves.Classes[i]
			s := overBins(c.Name, i, curves.BinS, of(c), factor, until)
			panel.Series = append(panel.Series, s)
			peak = max(peak, slices.Max(append(s.Y, 0)))
		}
		f.Panels = append(f.Panels, panel)
		peaks = append(peaks, peak)
	}
	if points(f) == 0 {
		return nil
	}
	p := &Plot{Caption: overTime + cut + seedNote(lines), Figure: f}
	if apart(peaks, 5) {
		f.OwnY = true
		p.Caption += " Each panel has its own scale."
	}
	return p
}

// apart reports whether one of the peaks is so many times another that a common scale would hide it.
func apart(peaks []float64, factor float64) bool {
	return slices.Max(peaks) > factor*slices.Min(peaks)
}

// leastWaiting stands for all that is less on a logarithmic axis of waiting tasks, which has no zero.
const leastWaiting = 0.1

func waitingPlot(lines []group.Line) *Plot {
	f := &figure.Figure{
		Title: "Waiting tasks", Kind: figure.Curves,
		X: figure.Axis{Label: "trace time (s)"}, Y: figure.Axis{Label: "waiting tasks"},
	}
	p := &Plot{Name: "waiting", Figure: f, Caption: "Tasks that were at a worker and had not started, in the whole cluster."}
	until, cut := timeAxis(lines)
	panel := figure.Panel{}
	var peaks []float64
	for _, l := range lines {
		c := l.First().Curves
		panel.Series = append(panel.Series, overBins(l.Label, l.Style, c.BinS, c.Waiting, 1, until))
		peaks = append(peaks, slices.Max(append(c.Waiting, leastWaiting)))
	}
	if apart(peaks, 20) {
		f.Y.Log = true
		p.Caption += fmt.Sprintf(" Less than %g is drawn as %g.", leastWaiting, leastWaiting)
		for _, s := range panel.Series {
			for i := range s.Y {
				s.Y[i] = max(s.Y[i], leastWaiting)
			}
		}
	}
	f.Panels = []figure.Panel{panel}
	if points(f) == 0 {
		return nil
	}
	p.Caption += overTime + cut + seedNote(lines)
	return p
}

// timeAxis ends at twice the length of the run in the middle: one policy that takes for ever would
// otherwise squeeze all others. The note says who went on.
func timeAxis(lines []group.Line) (until float64, note string) {
	var lengths []float64
	for _, l := range lines {
		lengths = append(lengths, l.First().Curves.Length())
	}
	slices.Sort(lengths)
	until = 2 * lengths[len(lengths)/2]
	var longer []string
	for _, l := range lines {
		if length := l.First().Curves.Length(); length > until {
			longer = append(longer, fmt.Sprintf("%s went on to %.0f s", l.Label, length))
		}
	}
	if len(longer) == 0 {
		return lengths[len(lengths)-1], ""
	}
	return until, " The time axis is cut: " + strings.Join(longer, ", ") + "."
}

// overBins draws a value in the middle of its bin, up to a moment of trace time.
func overBins(label string, style int, width float64, values []float64, factor, until float64) figure.Series {
	s := figure.Series{Label: label, Style: style}
	for i, v := range values {
		if at := (float64(i) + 0.5) * width; at <= until {
			s.X, s.Y = append(s.X, at), append(s.Y, v*factor)
		}
	}
	return s
}

// seedNote says which run is shown where there are several.
func seedNote(lines []group.Line) string {
	for _, l := range lines {
		if len(l.Cell.Runs) > 1 {
			return fmt.Sprintf(" The runs of seed %d.", lines[0].First().Seed)
		}
	}
	return ""
}
