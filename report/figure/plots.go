package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// plots makes one plot per panel.
func (f *Figure) plots() []*plot.Plot {
	x, y := f.ranges(f.Panels)
	plots := make([]*plot.Plot, len(f.Panels))
	for i, panel := range f.Panels {
		p := newPlot()
		p.Title.Text = panel.Title
		p.Y.Label.Text = f.Y.Label
		p.Add(grid(f.Kind))
		if f.Equal {
			p.Add(equality{})
		}
		for j, s := range panel.Series {
			p.Add(series{Series: s, f: f, order: j, of: len(panel.Series)})
		}
		if f.OwnY {
			_, y = f.ranges(f.Panels[i : i+1])
		}
		yTicks := round(5)
		if len(f.Panels) > 1 {
			yTicks = 3
		}
		f.X.apply(&p.X, x, 6)
		f.Y.apply(&p.Y, y, yTicks)
		if i == len(f.Panels)-1 {
			p.X.Label.Text = f.X.Label
		} else {
			p.X.Tick.Marker = unlabelled{p.X.Tick.Marker}
		}
		plots[i] = p
	}
	return plots
}

func grid(kind Kind) *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = gridColour, gridColour
	g.Horizontal.Width, g.Vertical.Width = 0.5, 0.5
	if kind == Bars {
		g.Vertical.Color = nil
	}
	return g
}

// span is the range of an axis.
type span struct{ min, max float64 }

func (s *span) include(v float64) { s.min, s.max = min(s.min, v), max(s.max, v) }

// crowded is how far beyond the largest value an interval may stretch the Y axis. What a few seeds do
// not pin down would otherwise press the values themselves together.
const crowded = 1.5

// ranges covers every point, and of every interval what is not too far out. A linear Y axis starts at
// zero: the eye compares heights.
func (f *Figure) ranges(panels []Panel) (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, p := range panels {
		for _, s := range p.Series {
			for i := range s.X {
				x.include(s.X[i])
				y.include(s.Y[i])
			}
		}
	}
	if f.Kind == Scatter && y.min < 0 {
		y.min *= 1.05
	}
	limits := span{max(0, y.min/crowded), max(0, y.max*crowded)}
	for _, p := range panels {
		for _, s := range p.Series {
			for i, half := range s.Half {
				y.include(max(limits.min, s.Y[i]-half))
				y.include(min(limits.max, s.Y[i]+half))
			}
		}
	}
	return f.X.fit(x).breathing(f), f.Y.fit(y).fromZero(&f.Y)
}

func (s span) fromZero(a *Axis) span {
	if a.Log {
		return s
	}
	s.min = min(s.min, 0)
	if a.Max == 0 && s.max > 0 {
		s.max *= 1.05
	}
	if s.max <= s.min {
		s.max = s.min + 1
	}
	return s
}

// fit widens a range to what the axis demands, and one that is a single point to something drawable.
func (a *Axis) fit(s span) span {
	switch {
	case a.Names != nil:
		return span{-0.5, float64(len(a.Names)) - 0.5}
	case a.Log:
		if s.max < s.min*10 {
			s.min, s.max = s.min/2, s.max*2
		}
		return s
	}
	if a.Max != 0 {
		s.max = a.Max
	}
	if s.max <= s.min {
		s.min, s.max = s.min-max(0.5, 0.1*math.Abs(s.min)), s.max+max(0.5, 0.1*math.Abs(s.max))
	}
	return s
}

// breathing keeps points off the ends of the X axis, and starts curves at zero where they nearly do.
func (s span) breathing(f *Figure) span {
	switch {
	case f.Kind == Points && f.X.Log:
		room := math.Pow(s.max/s.min, 0.06)
		return span{s.min / room, s.max * room}
	case f.X.Names != nil || f.X.Log:
	case f.Kind == Points || f.Kind == Scatter:
		return span{s.min - 0.06*(s.max-s.min), s.max + 0.06*(s.max-s.min)}
	case s.min > 0 && s.min < 0.1*s.max:
		s.min = 0
	}
	return s
}

func (a *Axis) apply(to *plot.Axis, s span, most round) {
	to.Min, to.Max = a.place(s.min), a.place(s.max)
	to.Tick.Marker = most
	switch {
	case a.Names != nil:
		to.Tick.Marker = names(a.Names)
		to.Tick.Length = 0
	case a.Ticks != nil:
		to.Tick.Marker = numbers(a.Ticks)
	case a.Log:
		to.Tick.Marker = decades{}
	}
}

// markersOn says which points of a curve carry a marker. Where they stand differs by style, so that curves that lie on
// each other are told apart.
func markersOn(n, style int) []int {
	const perCurve = 5
	step := max(1, n/perCurve)
	first := step * (style%perCurve + 1) / (perCurve + 1)
	var at []int
	for i := first; i < n; i += step {
		at = append(at, i)
	}
	return slices.Compact(at)
}

// series draws one Series as its kind demands.
type series struct {
	Series
	f         *Figure
	order, of int // place among the series of the panel
}

var _ plot.Plotter = series{}
