package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot implements plot.Plotter.
func (s series) Plot(c draw.Canvas, p *plot.Plot) {
	switch s.kind {
	case Bars:
		s.bars(c, p)
	case Curves:
		at := s.at(c, p, 0)
		c.StrokeLines(lineOf(s.Style), c.ClipLinesXY(at)...)
		for _, i := range markersOn(len(at), s.Style) {
			c.DrawGlyph(markerOf(s.Style), at[i])
		}
	case Points:
		s.points(c, p)
	}
}

// at returns where the points are drawn, moved to the right by shift.
func (s series) at(c draw.Canvas, p *plot.Plot, shift vg.Length) []vg.Point {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(s.X))
	for i := range s.X {
		points[i] = vg.Point{X: x(s.X[i]) + shift, Y: y(s.Y[i])}
	}
	return points
}

// points draws markers with their intervals. Intervals of several series stand side by side, as
// those at one X would hide each other.
func (s series) points(c draw.Canvas, p *plot.Plot) {
	shift := vg.Length(0)
	if s.Half != nil {
		shift = (vg.Length(s.order) - vg.Length(s.of-1)/2) * 1.6
	}
	at := s.at(c, p, shift)
	if s.names == 0 {
		c.StrokeLines(lineOf(s.Style), c.ClipLinesXY(at)...)
	}
	for i, point := range at {
		if s.Half != nil && s.Half[i] > 0 {
			s.interval(c, p, i, point.X)
		}
		c.DrawGlyph(markerOf(s.Style), point)
	}
}

func (s series) interval(c draw.Canvas, p *plot.Plot, i int, x vg.Length) {
	const capWidth = vg.Length(3)
	_, y := p.Transforms(&c)
	low := max(s.Y[i]-s.Half[i], p.Y.Min)
	from, to := y(low), y(min(s.Y[i]+s.Half[i], p.Y.Max))
	sty := draw.LineStyle{Color: colourOf(s.Style), Width: 0.8}
	c.StrokeLine2(sty, x, from, x, to)
	c.StrokeLine2(sty, x-capWidth/2, from, x+capWidth/2, from)
	c.StrokeLine2(sty, x-capWidth/2, to, x+capWidth/2, to)
}

// bars draws this series' bar of every group.
func (s series) bars(c draw.Canvas, p *plot.Plot) {
	const group = 0.8 // of the distance between names; the rest is white
	x, y := p.Transforms(&c)
	width := group / float64(s.of)
	for i := range s.X {
		left := s.X[i] - group/2 + float64(s.order)*width
		l, r := x(left), x(left+width*0.94)
		bottom, top := y(p.Y.Min), y(s.Y[i])
		c.FillPolygon(colourOf(s.Style), []vg.Point{{X: l, Y: bottom}, {X: r, Y: bottom}, {X: r, Y: top}, {X: l, Y: top}})
	}
}
