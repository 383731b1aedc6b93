package campaign

import (
	"bytes"
	"fmt"
	"slices"

	"dodoor/report/figure"
)

// Plot draws figures of settings against a number, a panel per figure.
type Plot struct {
	Name    string // of the file, without its ending
	Title   string
	Caption string
	X       string // label of the axis
	LogX    bool
	Metrics []Metric // with one axis
	Lines   []Line
}

// Line is one entry of the legend.
type Line struct {
	Label string
	X     []float64
	Cells []Cell
}

// line draws settings of one policy.
func line(label string, x []float64, cell func(x float64) Cell) Line {
	l := Line{Label: label, X: x}
	for _, v := range x {
		l.Cells = append(l.Cells, cell(v))
	}
	return l
}

// looks gives a policy the same colour and marker in all pictures.
var looks = []string{"pot", "dodoor", "prequal", "random", "dodoor+", "cached-pot"}

// far is how many times the smallest value of a panel the largest may be on a linear axis.
const far = 30

// figure is what package figure draws.
func (p *Plot) figure(r *Results) *figure.Figure {
	f := &figure.Figure{Title: p.Title, Kind: figure.Points, OwnY: true,
		X: figure.Axis{Label: p.X, Log: p.LogX}, Y: figure.Axis{Label: p.Metrics[0].Axis}}
	least, most := 0.0, 0.0
	for _, m := range p.Metrics {
		panel := figure.Panel{Title: m.Name} // the axis has the unit
		for i, l := range p.Lines {
			s := figure.Series{Label: l.Label, Style: i, X: l.X, Half: []float64{}}
			if known := slices.Index(looks, l.Label); known >= 0 {
				s.Style = known
			}
			for _, c := range l.Cells {
				e := r.estimate(c, m)
				s.Y, s.Half = append(s.Y, e.Mean), append(s.Half, e.Half)
			}
			panel.Series = append(panel.Series, s)
			if low := slices.Min(s.Y); least == 0 || low < least {
				least = low
			}
			most = max(most, slices.Max(s.Y))
			if !p.LogX {
				f.X.Ticks = l.X
			}
		}
		f.Panels = append(f.Panels, panel)
	}
	f.Y.Log = least > 0 && most > far*least
	return f
}

// Drawing is a picture of the page.
type Drawing struct {
	Name string // of the file
	SVG  []byte
}

// Drawings draws the pictures of all studies.
func (p *Plan) Drawings(r *Results) ([]Drawing, error) {
	var all []Drawing
	for i := range p.Studies {
		for _, part := range p.Studies[i].Parts {
			if part.Plot == nil {
				continue
			}
			var b bytes.Buffer
			if err := part.Plot.figure(r).Write(&b, "svg"); err != nil {
				return nil, fmt.Errorf("plot %s: %w", part.Plot.Name, err)
			}
			all = append(all, Drawing{part.Plot.file(), b.Bytes()})
		}
	}
	return all, nil
}

// drawingPrefix begins the name of every picture.
const drawingPrefix = "reproduction-"

func (p *Plot) file() string { return drawingPrefix + p.Name + ".svg" }
