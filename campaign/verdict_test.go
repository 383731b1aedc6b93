package campaign

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dodoor/report"
)

func TestAgrees(t *testing.T) {
	sure := func(v float64) report.Change {
		return report.Change{Mean: v, Low: v - 0.001, High: v + 0.001, Pairs: 5}
	}
	for _, c := range []struct {
		published float64
		ours      report.Change
		want      string
	}{
		{-0.10, sure(-0.10), "yes"},
		{-0.10, sure(-0.051), "yes"},
		{-0.10, sure(-0.19), "yes"},
		{-0.10, sure(-0.049), "direction, smaller"},
		{-0.10, sure(-0.21), "direction, larger"},
		{-0.10, sure(0.10), "**no**"},
		{0.10, sure(0.12), "yes"},
		{-0.10, report.Change{Mean: -0.10, Low: -0.25, High: 0.05, Pairs: 5}, "**no**"},
		{-0.10, report.Change{Mean: -0.10, Low: -0.10, High: -0.10, Pairs: 1}, "yes"},
		{-0.10, report.Change{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}, "**no**"},
	} {
		if got := agrees(c.published, c.ours); got != c.want {
			t.Errorf("published %g, ours %+v: %s, want %s", c.published, c.ours, got, c.want)
		}
	}
}

// "Up to" is the largest change in the published direction, wherever it is.
func TestExtreme(t *testing.T) {
	cell, r := measured(map[string][]float64{"base": {10, 20}, "a": {9.5, 19}, "b": {8, 16}, "c": {15, 30}})
	var pairs []pair
	for i, name := range []string{"a", "b", "c"} {
		c, base := cell(name), cell("base")
		c.QPS = float64(i + 1)
		r.outcomes[c.key()] = r.of(cell(name))
		pairs = append(pairs, pair{c, base})
	}
	if ours, agree := extreme(pairs, mean, -0.15)(r); ours != "−20.0 [−20.0, −20.0] % at QPS 2" || agree != "yes" {
		t.Errorf("down: %s, %s", ours, agree)
	}
	if ours, agree := extreme(pairs, mean, 0.15)(r); ours != "+50.0 [+50.0, +50.0] % at QPS 3" || agree != "direction, larger" {
		t.Errorf("up: %s, %s", ours, agree)
	}
}

// A bound is kept or missed by the ratio of means.
func TestBounds(t *testing.T) {
	cell, r := measured(map[string][]float64{"oracle": {1, 3}, "dodoor+": {2, 3}})
	oracle := cell("oracle")
	line := row(cell("dodoor+"), &oracle)
	for bounds, want := range map[float64]string{1.25: "yes", 1.24: "**no**", 0: "–"} {
		line.Bound = bounds
		if got := bound(mean)[1].Text(r, &line); got != want {
			t.Errorf("ratio 1.25, bound %g: %s, want %s", bounds, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	cell, r := measured(map[string][]float64{"dodoor": {1.0, 1.2}})
	for published, want := range map[float64]bool{1.01: true, 0.99: false, 1.22: true, 1.23: false} {
		line := Row{Cell: cell("dodoor"), Metric: mean, Published: published}
		if got := r.near(&line); got != want {
			t.Errorf("1.1 against %g: %t", published, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(0), "0"}, {number(0.12345), "0.123"}, {number(1.2345), "1.23"}, {number(12.345), "12.3"}, {number(123.45), "123"},
		{number(1234567.8), "1,234,568"}, {number(-1234), "−1,234"}, {number(math.NaN()), "–"}, {number(math.Inf(1)), "–"},
		{exact(5), "5"}, {exact(0.25), "0.25"}, {exact(16680), "16,680"}, {exact(1.16), "1.16"}, {exact(100000), "100,000"},
		{percent(0.1234), "+12.3"}, {percent(-0.0004), "0.0"}, {percent(0.0004), "0.0"}, {percent(-0.5), "−50.0"},
		{control.text(1.175), "1.175"}, {mean.text(1.175), "1.18"},
		{mean.spread(report.Estimate{Mean: 1234.4, Half: 12.34, N: 5}), "1,234 ± 12"}, {mean.spread(report.Estimate{Mean: 2, N: 1}), "2.00"},
		{changed(report.Change{Mean: -0.1, Low: -0.2, High: -0.05, Pairs: 5}), "−10.0 [−20.0, −5.0]"},
		{changed(report.Change{Mean: -0.1, Low: -0.2, High: 0.05, Pairs: 5}), "~−10.0 [−20.0, +5.0]"},
		{changed(report.Change{Mean: 0.1, Low: 0.1, High: 0.1, Pairs: 1}), "+10.0"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// What is written can be read again, to its last digit.
func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e9, 1e9).Draw(t, "v")
		places := rapid.IntRange(0, 6).Draw(t, "places")
		text := strings.ReplaceAll(strings.Replace(decimal(v, places), "−", "-", 1), ",", "")
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(back-v) > 0.5000001*math.Pow10(-places)+1e-15*math.Abs(v) {
			t.Fatalf("%g with %d places is %q: %v", v, places, text, err)
		}
	})
}

// Lines of a table are equally long in letters and have equally many cells, whatever stands in them.
func TestTablesAreAligned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 5).Draw(t, "width")
		var lines [][]string
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			lines = append(lines, rapid.SliceOfN(rapid.StringMatching(`[a-zΔ−|0-9 .]{0,12}`), width, width).Draw(t, "line"))
		}
		var b strings.Builder
		writeAligned(&b, lines, rapid.IntRange(0, width).Draw(t, "left"))
		letters := -1
		for line := range strings.Lines(b.String()) {
			if letters < 0 {
				letters = utf8.RuneCountInString(line)
			}
			bars := strings.Count(line, "|") - strings.Count(line, `\|`)
			if utf8.RuneCountInString(line) != letters || bars != width+1 {
				t.Fatalf("lines differ:\n%s", b.String())
			}
		}
	})
}
