package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend lays its entries out in rows as wide as the column, outside the data.
type legend struct {
	kind Kind
	rows [][]Series
}

const (
	thumbnail = vg.Length(18)
	gap       = vg.Length(3) // between thumbnail and text
	apart     = vg.Length(8) // between entries
)

// legend has one entry per style, in order of first appearance; a single unnamed series needs none.
func (f *Figure) legend() legend {
	l := legend{kind: f.Kind}
	seen := map[int]bool{}
	limit, used := columnWidth-3*margin, vg.Length(0)
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if seen[s.Style] || s.Label == "" {
				continue
			}
			seen[s.Style] = true
			width := entryWidth(s)
			if len(l.rows) == 0 || used+width > limit {
				l.rows, used = append(l.rows, nil), 0
			}
			last := len(l.rows) - 1
			l.rows[last] = append(l.rows[last], s)
			used += width + apart
		}
	}
	return l
}

func entryWidth(s Series) vg.Length {
	return thumbnail + gap + wider*textStyle(textSize, color.Black).Width(s.Label)
}

func (l legend) height() vg.Length {
	return lineHeight(textSize)*vg.Length(len(l.rows)) + margin
}

// draw puts the legend's upper left corner at (x, y).
func (l legend) draw(c draw.Canvas, x, y vg.Length) {
	sty := textStyle(textSize, color.Black)
	sty.YAlign = draw.YCenter
	for _, row := range l.rows {
		at := x
		middle := y - lineHeight(textSize)/2
		for _, s := range row {
			l.thumbnail(c, s, at, middle)
			c.FillText(sty, vg.Point{X: at + thumbnail + gap, Y: middle}, s.Label)
			at += entryWidth(s) + apart
		}
		y -= lineHeight(textSize)
	}
}

func (l legend) thumbnail(c draw.Canvas, s Series, x, y vg.Length) {
	if l.kind == Bars {
		const half = textSize * 0.35
		bar(c, s.Style, x+5, x+thumbnail, y-half, y+half)
		return
	}
	if l.kind != Scatter {
		c.StrokeLine2(lineOf(s.Style), x, y, x+thumbnail, y)
	}
	c.DrawGlyphNoClip(markerOf(s.Style), vg.Point{X: x + thumbnail/2, Y: y})
}
