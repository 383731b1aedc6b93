package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgpdf" // registers pdf
	_ "gonum.org/v1/plot/vg/vgsvg" // registers svg
)

// pngDPI makes a column 1,035 pixels wide: sharp in print.
const pngDPI = 300

// A PDF says when it was made and lists its objects in the order of a map, unless told otherwise.
// The library reads both from package variables when a document starts.
func init() {
	epoch := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCreationDate(epoch)
	fpdf.SetDefaultModificationDate(epoch)
	fpdf.SetDefaultCatalogSort(true)
}

func (f *Figure) draw(w io.Writer, format string) error {
	plots := f.plots()
	l := f.legend()
	title := f.titleLines()
	head := margin + l.height() + lineHeight(titleSize)*vg.Length(len(title))
	body := plotHeight
	if len(plots) > 1 {
		body = panelHeight*vg.Length(len(plots)) + 2*textSize // the X axis is drawn once
	}
	height := head + body + margin
	canvas, err := newCanvas(columnWidth, height, format)
	if err != nil {
		return err
	}
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	inner := draw.Crop(dc, margin, -2*margin, margin, -margin)
	top := inner.Max.Y
	for i, line := range title {
		sty := textStyle(titleSize, color.Black)
		if i > 0 || f.Warning != "" && f.Title == "" {
			sty.Color = warningColour
		}
		sty.YAlign = draw.YTop
		dc.FillText(sty, vg.Point{X: inner.Min.X, Y: top}, line)
		top -= lineHeight(titleSize)
	}
	l.draw(dc, inner.Min.X, top)
	drawPanels(plots, draw.Crop(inner, 0, 0, 0, -(head-margin)))
	return encode(w, canvas, format)
}

// titleLines is the title and, when there is one, the warning.
func (f *Figure) titleLines() []string {
	limit := columnWidth - 3*margin
	lines := wrap(f.Title, titleSize, limit)
	if f.Warning != "" {
		lines = append(lines[:len(lines):len(lines)], wrap(f.Warning, titleSize, limit)...)
	}
	return lines
}

func lineHeight(size vg.Length) vg.Length { return size * 1.3 }

func newCanvas(w, h vg.Length, format string) (vg.CanvasWriterTo, error) {
	if format == "png" {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}, nil
	}
	return draw.NewFormattedCanvas(w, h, format)
}

// encode writes the canvas. The SVG library names one font family, which few readers have: the
// others on the list have the same widths, or are at hand everywhere.
func encode(w io.Writer, canvas vg.CanvasWriterTo, format string) error {
	if format != "svg" {
		_, err := canvas.WriteTo(w)
		return err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := strings.NewReplacer("font-family:Liberation Sans;", "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;").
		WriteString(w, b.String())
	return err
}

// drawPanels puts the panels above one another, their axes aligned.
func drawPanels(plots []*plot.Plot, dc draw.Canvas) {
	rows := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		rows[i] = []*plot.Plot{p}
	}
	canvases := plot.Align(rows, draw.Tiles{Rows: len(plots), Cols: 1, PadY: 4}, dc)
	for i, p := range plots {
		p.Draw(canvases[i][0])
	}
}

// wrap breaks text into lines at most limit wide, in the wider letters of another font if need be. A
// word that is wider still stands alone.
func wrap(s string, size, limit vg.Length) []string {
	sty := textStyle(size, color.Black)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		longer := strings.TrimSpace(fmt.Sprintf("%s %s", line, word))
		if line != "" && wider*sty.Width(longer) > limit {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
