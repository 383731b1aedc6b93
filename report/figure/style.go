package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points: a column of a two-column paper is 3.45 inches wide, and its captions have 8 or 9
// points.
const (
	columnWidth = 3.45 * vg.Inch
	plotHeight  = 2.1 * vg.Inch // a figure of one panel, without title and legend
	panelHeight = 1.05 * vg.Inch
	margin      = vg.Length(4)
	titleSize   = vg.Length(9)
	textSize    = vg.Length(8)
	tickSize    = vg.Length(7.5)
	lineWidth   = vg.Length(1.2)
	markerSize  = vg.Length(2.2)
)

// wider is how much wider the letters may be of the font that an SVG's reader has instead.
const wider = 1.15

// The palette of Okabe and Ito, which the colour-blind can tell apart, without its yellow, which is
// too faint on white.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x00, 0x00, 0x00, 0xff}, // black
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

var (
	warningColour = color.RGBA{0xb0, 0x00, 0x20, 0xff}
	gridColour    = color.RGBA{0xe2, 0xe2, 0xe2, 0xff}
	axisColour    = color.RGBA{0x40, 0x40, 0x40, 0xff}
)

// Markers and dashes repeat after different numbers of series than colours do, so that no two of the
// first 140 look alike.
var (
	markers = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
		draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 1.5, 1.5, 1.5}, {3, 1.5}}
)

func colourOf(style int) color.RGBA { return palette[style%len(palette)] }

func lineOf(style int) draw.LineStyle {
	return draw.LineStyle{Color: colourOf(style), Width: lineWidth, Dashes: dashes[style%len(dashes)]}
}

func markerOf(style int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colourOf(style), Radius: markerSize, Shape: markers[style%len(markers)]}
}

func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

// newPlot is an empty plot in the style of the house.
func newPlot() *plot.Plot {
	p := plot.New()
	p.Title.TextStyle.Font = textStyle(textSize, color.Black).Font
	p.Title.Padding = 2
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = textStyle(textSize, color.Black).Font
		a.Tick.Label.Font = textStyle(tickSize, color.Black).Font
		a.Tick.Length = 3
		a.Padding = 0
		for _, l := range []*draw.LineStyle{&a.LineStyle, &a.Tick.LineStyle} {
			l.Color, l.Width = axisColour, 0.6
		}
	}
	p.Y.Label.Padding = 3
	return p
}
