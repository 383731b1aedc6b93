package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot implements plot.Plotter.
func (s series) Plot(c draw.Canvas, p *plot.Plot) {
	switch s.f.Kind {
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
	case Scatter:
		for _, point := range s.at(c, p, 0) {
			c.DrawGlyph(markerOf(s.Style), point)
		}
	}
}

// equality is the line on which Y is X. Both axes are of one kind, linear or logarithmic.
type equality struct{}

var _ plot.Plotter = equality{}

// Plot implements plot.Plotter.
func (equality) Plot(c draw.Canvas, p *plot.Plot) {
	from, to := max(p.X.Min, p.Y.Min), min(p.X.Max, p.Y.Max)
	if from >= to {
		return
	}
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: axisColour, Width: 0.6}, x(from), y(from), x(to), y(to))
}

// at returns where the points are drawn, moved to the right by shift.
func (s series) at(c draw.Canvas, p *plot.Plot, shift vg.Length) []vg.Point {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(s.X))
	for i := range s.X {
		points[i] = vg.Point{X: x(s.f.X.place(s.X[i])) + shift, Y: y(s.f.Y.place(s.Y[i]))}
	}
	return points
}

// points draws markers with their intervals. Intervals of several series stand side by side, as
// those at one X would hide each other.
func (s series) points(c draw.Canvas, p *plot.Plot) {
	shift := vg.Length(0)
	if s.Half != nil && s.f.X.Names == nil {
		shift = (vg.Length(s.order) - vg.Length(s.of-1)/2) * 1.6
	}
	at := s.at(c, p, shift)
	if s.f.X.Names == nil {
		c.StrokeLines(lineOf(s.Style), c.ClipLinesXY(at)...)
	}
	for i, point := range at {
		if s.Half != nil && s.Half[i] > 0 {
			s.interval(c, p, i, point.X)
		}
		c.DrawGlyph(markerOf(s.Style), point)
	}
}

// interval has a cap at each end that is within the axis; one that runs out of it has none.
func (s series) interval(c draw.Canvas, p *plot.Plot, i int, x vg.Length) {
	const capWidth = vg.Length(3)
	_, y := p.Transforms(&c)
	sty := draw.LineStyle{Color: colourOf(s.Style), Width: 0.8}
	var ends []vg.Length
	for _, end := range [...]float64{s.Y[i] - s.Half[i], s.Y[i] + s.Half[i]} {
		at := p.Y.Min
		if s.f.Y.shows(end) {
			at = s.f.Y.place(end)
		}
		inside := min(max(at, p.Y.Min), p.Y.Max)
		ends = append(ends, y(inside))
		if inside == at && s.f.Y.shows(end) {
			c.StrokeLine2(sty, x-capWidth/2, y(at), x+capWidth/2, y(at))
		}
	}
	c.StrokeLine2(sty, x, ends[0], x, ends[1])
}

// bars draws this series' bar of every group.
func (s series) bars(c draw.Canvas, p *plot.Plot) {
	const group = 0.84 // of the distance between names; the rest is white
	x, y := p.Transforms(&c)
	width := group / float64(s.of)
	for i := range s.X {
		left := s.X[i] - group/2 + float64(s.order)*width
		bar(c, s.Style, x(left), x(left+width*0.92), y(p.Y.Min), y(s.Y[i]))
	}
}

// bar fills a rectangle. When the colours begin again, bars have a pale filling and an edge.
func bar(c draw.Canvas, style int, left, right, bottom, top vg.Length) {
	edge := colourOf(style)
	fill := edge
	if style/len(palette)%2 == 1 {
		fill = pale(edge)
	}
	corners := []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
	c.FillPolygon(fill, corners)
	c.StrokeLines(draw.LineStyle{Color: edge, Width: 0.6}, append(corners, corners[0]))
}

func pale(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v) + 3*0xff) / 4) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}
