package plots

import (
	"io"
	"slices"

	"dodoor/report/figure"

	"dodoor/report/stats"
)

// SpreadLine is repeated runs of one mode of a task type.
type SpreadLine struct {
	Type    string
	Seconds []float64 // of each run
}

// DrawSpread shows in an SVG how far runs of the same kind lie apart.
func DrawSpread(w io.Writer, title string, lines []SpreadLine) error {
	f := &figure.Figure{
		Title: title, Kind: figure.Scatter,
		X: figure.Axis{Label: "mean run time (s)", Log: true}, Y: figure.Axis{Label: "run against mean (%)"},
	}
	panel := figure.Panel{}
	for _, l := range lines {
		i := slices.IndexFunc(panel.Series, func(s figure.Series) bool { return s.Label == l.Type })
		if i < 0 {
			i = len(panel.Series)
			panel.Series = append(panel.Series, figure.Series{Label: l.Type, Style: i})
		}
		s, average := &panel.Series[i], stats.Mean(l.Seconds)
		for _, seconds := range l.Seconds {
			s.X, s.Y = append(s.X, average), append(s.Y, 100*(seconds/average-1))
		}
	}
	f.Panels = []figure.Panel{panel}
	return f.Write(w, "svg")
}
