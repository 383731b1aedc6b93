package figure

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

func sample(kind Kind) *Figure {
	f := &Figure{Title: "Makespan", Kind: kind, X: Axis{Label: "arrivals per s"}, Y: Axis{Label: "makespan (s)"}}
	panel := Panel{}
	for i, name := range []string{"dodoor", "pot", "prequal"} {
		s := Series{Label: name, Style: i, X: []float64{0, 1, 2}, Y: []float64{1 + float64(i), 2, 3}}
		if kind == Points {
			s.Half = []float64{0.1, 0.2, 0.3}
		}
		panel.Series = append(panel.Series, s)
	}
	if kind == Bars {
		f.X.Names = []string{"small", "large", "huge"}
	}
	f.Panels = []Panel{panel}
	return f
}

func drawn(t *testing.T, f *Figure, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSameFigureSameBytes(t *testing.T) {
	starts := map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF-"}
	for _, kind := range []Kind{Points, Curves, Bars, Scatter} {
		for _, format := range Formats {
			first, second := drawn(t, sample(kind), format), drawn(t, sample(kind), format)
			if !bytes.Equal(first, second) {
				t.Errorf("kind %d: two drawings as %s differ", kind, format)
			}
			if !bytes.HasPrefix(first, []byte(starts[format])) {
				t.Errorf("kind %d as %s begins with %q", kind, format, first[:8])
			}
		}
	}
}

func TestWhatMustBeReadable(t *testing.T) {
	f := sample(Points)
	f.Warning = "INCOMPLETE: not every task finished"
	svg := string(drawn(t, f, "svg"))
	for _, want := range []string{">Makespan<", ">dodoor<", ">pot<", ">prequal<", ">arrivals per s<", ">makespan (s)<", "INCOMPLETE",
		"#B00020", "sans-serif"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing lacks %q", want)
		}
	}
}

func TestPNGIsAColumnAtPrintResolution(t *testing.T) {
	config, err := png.DecodeConfig(bytes.NewReader(drawn(t, sample(Curves), "png")))
	if err != nil {
		t.Fatal(err)
	}
	if config.Width != 1035 {
		t.Errorf("the picture is %d pixels wide; 3.45 inches at 300 dots are 1035", config.Width)
	}
}

func TestLongLegendsWrap(t *testing.T) {
	f := sample(Curves)
	low := len(f.legend().rows)
	for i := range f.Panels[0].Series {
		f.Panels[0].Series[i].Label += " with a long list of settings"
	}
	l := f.legend()
	if low != 1 || len(l.rows) != 3 {
		t.Errorf("%d and %d rows; want 1 and 3", low, len(l.rows))
	}
	for _, row := range l.rows {
		width := vg.Length(0)
		for _, s := range row {
			width += entryWidth(s)
		}
		if len(row) > 1 && width > columnWidth {
			t.Errorf("a row of %d entries is %v wide", len(row), width)
		}
	}
}

func TestNoTwoSeriesLookAlike(t *testing.T) {
	seen := map[[3]int]bool{}
	for i := range 140 {
		look := [3]int{i % len(palette), i % len(dashes), i % len(markers)}
		if seen[look] {
			t.Fatalf("series %d looks like an earlier one", i)
		}
		seen[look] = true
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Figure){
		"nothing to draw": func(f *Figure) { f.Panels = nil },
		"2 y":             func(f *Figure) { f.Panels[0].Series[0].Y = []float64{1, 2} },
		"(0, NaN)":        func(f *Figure) { f.Panels[0].Series[0].Y[0] = math.NaN() },
		"(0, +Inf)":       func(f *Figure) { f.Panels[0].Series[0].Y[0] = math.Inf(1) },
		"no place":        func(f *Figure) { f.X.Log = true },
		"format":          func(f *Figure) {},
	} {
		f, format := sample(Points), "svg"
		if want == "format" {
			format = "gif"
		}
		spoil(f)
		if err := f.Write(&bytes.Buffer{}, format); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Values that are all the same, a single point, zero: the axis must still have a range.
func TestDegenerateData(t *testing.T) {
	for _, c := range []struct{ x, y []float64 }{
		{[]float64{0}, []float64{0}}, {[]float64{5}, []float64{5}}, {[]float64{1, 1}, []float64{-2, -2}},
		{[]float64{1e-9, 1e9}, []float64{1e12, 1e-12}},
	} {
		for _, kind := range []Kind{Points, Curves} {
			for _, log := range []bool{false, true} {
				f := &Figure{Title: "t", Kind: kind, Panels: []Panel{{Series: []Series{{Label: "a", X: c.x, Y: c.y}}}}}
				f.X.Log = log && c.x[0] > 0
				f.Y.Log = log && c.y[0] > 0
				drawn(t, f, "svg")
			}
		}
	}
}

func TestPanelsShareTheirRanges(t *testing.T) {
	f := sample(Curves)
	f.Panels = append(f.Panels, Panel{Title: "b", Series: []Series{{Label: "x", X: []float64{0, 50}, Y: []float64{0, 400}}}})
	plots := f.plots()
	if plots[0].X.Max != plots[1].X.Max || plots[0].Y.Max != plots[1].Y.Max || plots[0].Y.Max < 400 || plots[0].Y.Min != 0 {
		t.Errorf("ranges x %g and %g, y %g to %g and %g", plots[0].X.Max, plots[1].X.Max, plots[0].Y.Min, plots[0].Y.Max, plots[1].Y.Max)
	}
}

// Markers at the ends of a logarithmic axis have as much room beside them as those of a linear one.
func TestPointsKeepOffTheEnds(t *testing.T) {
	for _, log := range []bool{false, true} {
		f := &Figure{Kind: Points, X: Axis{Log: log}, Panels: []Panel{{Series: []Series{{X: []float64{100, 1e5}, Y: []float64{1, 1}}}}}}
		axis := f.plots()[0].X
		ends := axis.Max - axis.Min
		if f.X.place(100)-axis.Min < 0.05*ends || axis.Max-f.X.place(1e5) < 0.05*ends {
			t.Errorf("log=%t: the axis goes from %g to %g", log, axis.Min, axis.Max)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticker    plot.Ticker
		low, high float64
		want      string
	}{
		{round(3), 0, 78, "0 50"},
		{round(3), 0, 100, "0 50 100"},
		{round(3), 0, 0.55, "0 0.2 0.4"},
		{round(5), 0, 0.31, "0 0.1 0.2 0.3"},
		{round(5), 18, 61, "20 30 40 50 60"},
		{decades{}, 0, 3, "1 10 100 1000"},
		{decades{}, -0.5, 0.6, "0.5 1 2"},
		{decades{}, 3, 5, "1000 10000 100000"},
		{numbers{1, 5, 10, 20}, 1, 20, "1 5 10 20"},
		{numbers{1, 2, 100}, 1, 100, "1 100"},
		{names{"a", "b"}, -0.5, 1.5, "a b"},
		{unlabelled{names{"a", "b"}}, -0.5, 1.5, ""},
	} {
		var labels []string
		for _, tick := range c.ticker.Ticks(c.low, c.high) {
			if strings.TrimSpace(tick.Label) != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%T from %g to %g: %q, want %q", c.ticker, c.low, c.high, got, c.want)
		}
	}
}

// A scatter is points without the lines that join them, and may have one where both axes are equal.
func TestScatter(t *testing.T) {
	strokes := func(f *Figure) int { return strings.Count(string(drawn(t, f, "svg")), "<path") }
	joined, apart := sample(Points), sample(Scatter)
	for i := range joined.Panels[0].Series {
		joined.Panels[0].Series[i].Half = nil
	}
	// A line through the points and one in the legend for each of three series.
	if lines := strokes(joined) - strokes(apart); lines != 6 {
		t.Errorf("joined points have %d lines more than a scatter", lines)
	}
	equal := sample(Scatter)
	equal.Equal = true
	if lines := strokes(equal) - strokes(apart); lines != 1 {
		t.Errorf("%d lines where both axes are equal", lines)
	}
	for _, f := range []*Figure{apart, equal} {
		f.X = Axis{Ticks: []float64{5000, 6000}}
		f.Panels[0].Series = []Series{{X: []float64{5000, 6000}, Y: []float64{1, 2}}}
	}
	if strokes(equal) != strokes(apart) {
		t.Error("the axes have no value in common, and a line where they are equal")
	}
}
