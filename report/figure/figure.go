// Package figure draws the report's figures in one style, fit for a column of a paper, as SVG, PNG
// and PDF. The same figure gives the same bytes.
package figure

import (
	"fmt"
	"io"
	"math"
)

// Figure is one picture: panels above one another with a common legend above them all. The panels
// share both axes, unless each has a Y scale of its own.
type Figure struct {
	Title   string
	Warning string // drawn in red under the title
	X, Y    Axis
	Kind    Kind
	Panels  []Panel
	OwnY    bool
	Equal   bool // a line where Y is X goes under the data
}

// Axis is common to all panels.
type Axis struct {
	Label string   // with the unit
	Log   bool     // values must be positive
	Names []string // of the positions 0, 1, 2, ...; nil: a scale of numbers
	Ticks []float64
	Max   float64 // 0: the largest value
}

// Kind says how series are drawn.
type Kind int

const (
	Points  Kind = iota // measured points, joined, with their intervals
	Curves              // lines of many points, with a marker here and there
	Bars                // groups side by side, one group per name of the X axis
	Scatter             // points alone
)

// Panel is one plot. Title may be empty.
type Panel struct {
	Title  string
	Series []Series
}

// Series is one entry of the legend. Series with one Style look alike in all panels.
type Series struct {
	Label string
	Style int // colour, marker and dashes, from 0
	X, Y  []float64
	Half  []float64 // half the width of the interval around Y; nil: none
}

// Formats are the file formats, which are also the files' extensions.
var Formats = []string{"svg", "png", "pdf"}

// Write draws f in the given format.
func (f *Figure) Write(w io.Writer, format string) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("figure %q: %w", f.Title, err)
	}
	return f.draw(w, format)
}

// check refuses what the drawing library panics on, or what would be drawn wrong.
func (f *Figure) check() error {
	points := 0
	for _, p := range f.Panels {
		for _, s := range p.Series {
			points += len(s.X)
			if len(s.X) != len(s.Y) || s.Half != nil && len(s.Half) != len(s.Y) {
				return fmt.Errorf("series %q has %d x, %d y and %d intervals", s.Label, len(s.X), len(s.Y), len(s.Half))
			}
			for i := range s.X {
				if !f.X.shows(s.X[i]) || !f.Y.shows(s.Y[i]) {
					return fmt.Errorf("series %q: the point (%g, %g) has no place on the axes", s.Label, s.X[i], s.Y[i])
				}
			}
		}
	}
	if points == 0 {
		return fmt.Errorf("there is nothing to draw")
	}
	return nil
}

// place is where a value stands along the axis. The drawing library has logarithmic axes of its own,
// but makes room for their labels as if these stood on a linear one.
func (a *Axis) place(v float64) float64 {
	if a.Log {
		return math.Log10(v)
	}
	return v
}

func (a *Axis) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}
