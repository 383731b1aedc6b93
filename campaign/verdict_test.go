package campaign

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"dodoor/report/stats"

	"pgregory.net/rapid"
)

// Direction first: an interval that holds zero is none. Then size, and whose is larger.
func TestJudge(t *testing.T) {
	sure := func(v float64) stats.Change {
		return stats.Change{Mean: v, Low: v - 0.001, High: v + 0.001, Pairs: 5}
	}
	for _, c := range []struct {
		end, least, most float64
		ours             stats.Change
		direction        Direction
		size             Size
		larger           Larger
	}{
		{-0.10, -0.10, -0.10, sure(-0.11), sameWay, alike, largerHere},
		{-0.10, -0.10, -0.10, sure(-0.124), sameWay, alike, largerHere},
		{-0.10, -0.10, -0.10, sure(-0.076), sameWay, alike, largerThere},
		{-0.10, -0.10, -0.10, sure(-0.126), sameWay, unlike, largerHere},
		{-0.10, -0.10, -0.10, sure(-0.20), sameWay, unlike, largerHere}, // twice the size does not agree
		{-0.10, -0.10, -0.10, sure(-0.074), sameWay, unlike, largerThere},
		{-0.10, -0.10, -0.10, sure(0.10), otherWay, unlike, neither},
		{0.33, 0.06, 0.33, sure(0.07), sameWay, alike, largerThere}, // within the published range
		{0.33, 0.06, 0.33, sure(0.50), sameWay, unlike, largerHere},
		{0.06, 0.06, 0.33, sure(0.02), sameWay, unlike, largerThere}, // its lower end is judged as well
		{0.06, 0.06, 0.33, sure(0.30), sameWay, alike, largerHere},
		{0.06, 0.06, 0.33, sure(-0.02), otherWay, unlike, neither},
		{-0.10, -0.10, -0.10, stats.Change{Mean: -0.10, Low: -0.25, High: 0.05, Pairs: 5}, noWay, unlike, neither},
		{-0.10, -0.10, -0.10, stats.Change{Mean: -0.10, Low: -0.10, High: -0.10, Pairs: 1}, sameWay, alike, largerThere},
		{-0.10, -0.10, -0.10, stats.Change{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}, noWay, unlike, neither},
	} {
		got := judge(c.ours, c.end, c.least, c.most)
		if got.Direction != c.direction || got.Size != c.size || got.Larger != c.larger {
			t.Errorf("published %g of %g to %g, ours %+v: %+v, want %s, %s, %s", c.end, c.least, c.most, c.ours, got, c.direction, c.size, c.larger)
		}
	}
}

// "Up to" is the largest change in the published direction, wherever it is; the lower end of a range the smallest.
func TestExtremes(t *testing.T) {
	cell, r := measured(map[string][]float64{"base": {10, 20}, "a": {9.5, 19}, "b": {8, 16}, "c": {15, 30}})
	var pairs []pair
	for i, name := range []string{"a", "b", "c"} {
		c, base := cell(name), cell("base")
		c.QPS = float64(i + 1)
		r.outcomes[c.key()] = r.of(cell(name))
		pairs = append(pairs, pair{c, base})
	}
	for _, c := range []struct {
		what string
		got  Judgement
		want Judgement
	}{
		{"down", atBest(pairs, mean, -0.15)(r), Judgement{"−20.0 [−20.0, −20.0] % at QPS 2", sameWay, unlike, largerHere}},
		{"up", atBest(pairs, mean, 0.45)(r), Judgement{"+50.0 [+50.0, +50.0] % at QPS 3", sameWay, alike, largerHere}},
		{"least", least(pairs[:2], mean, -0.04, -0.19)(r), Judgement{"−5.0 [−5.0, −5.0] % at QPS 1", sameWay, alike, largerHere}},
		{"most", most(pairs[:2], mean, -0.04, -0.19)(r), Judgement{"−20.0 [−20.0, −20.0] % at QPS 2", sameWay, alike, largerHere}},
		{"least of all", least(pairs, mean, -0.04, -0.19)(r), Judgement{"+50.0 [+50.0, +50.0] % at QPS 3", otherWay, unlike, neither}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, c.got, c.want)
		}
	}
}

// Every claim is in one group of the summary, and in the table.
func TestSummaryNamesEveryClaim(t *testing.T) {
	p, r := every(t, false)
	head, table, ok := strings.Cut(string(p.Page(r, about)), `<a id="claims">`)
	if !ok {
		t.Fatal("no table of claims")
	}
	for _, j := range p.judged(r) {
		if n := strings.Count(head, j.Claim.Claim+" ("); n != 1 {
			t.Errorf("%q is %d times in the summary", j.Claim.Claim, n)
		}
		if !strings.Contains(table, "| "+j.Claim.Claim) {
			t.Errorf("%q is not in the table", j.Claim.Claim)
		}
	}
	if lines := strings.Count(head[:strings.Index(head, "* Command:")], "\n"); lines > 20 {
		t.Errorf("the summary and what is said of the runs take %d lines", lines)
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
		{mean.spread(stats.Estimate{Mean: 1234.4, Half: 12.34, N: 5}), "1,234 ± 12"}, {mean.spread(stats.Estimate{Mean: 2, N: 1}), "2.00"},
		{changed(stats.Change{Mean: -0.1, Low: -0.2, High: -0.05, Pairs: 5}), "−10.0 [−20.0, −5.0]"},
		{changed(stats.Change{Mean: -0.1, Low: -0.2, High: 0.05, Pairs: 5}), "~−10.0 [−20.0, +5.0]"},
		{changed(stats.Change{Mean: 0.1, Low: 0.1, High: 0.1, Pairs: 1}), "+10.0"},
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
