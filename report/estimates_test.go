package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"dodoor/generator"

	"pgregory.net/rapid"
)

// estimatedAs is a task that ran for so many milliseconds on the wall.
func estimatedAs(typ string, run float64, estimate int64) generator.Row {
	r := finished("x", 0, run)
	r.Type, r.Estimate = typ, estimate
	return r
}

// Time scale 20: runs of 10, 20 and 30 ms took 200, 400 and 600 ms of trace time.
func TestEstimateErrorByHand(t *testing.T) {
	slow, warm := estimatedAs("a", 30, 300), estimatedAs("a", 1000, 1)
	slow.Startup, warm.Startup, warm.Warmup = at(7), at(900), true
	s := fold(info(), estimatedAs("a", 10, 250), estimatedAs("b", 20, 400), slow, warm, estimatedAs("a", 50, 0))
	want := EstimateError{Mean: (0.2 + 0 + 1) / 3, P50: 0.2, P95: 1, Bias: (-0.2 + 0 + 1) / 3}
	if e := s.EstimateError; !close(e.Mean, want.Mean) || !close(e.P50, want.P50) || !close(e.P95, want.P95) || !close(e.Bias, want.Bias) {
		t.Errorf("got %+v, want %+v", e, want)
	}
	if s.StartupMs == nil || !close(s.StartupMs.Mean, 140) || !close(s.StartupMs.Max, 140) {
		t.Errorf("start-up %+v, want 7 ms on the wall, once", s.StartupMs)
	}
	var text bytes.Buffer
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "estimates    off by 40.0 % on average, p50 20.0 %, p95 100.0 %; bias +26.7 %") ||
		!strings.Contains(text.String(), "start-up") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// What nobody measured or estimated does not appear.
func TestNoEstimates(t *testing.T) {
	s := fold(info(), finished("0", 0, 5), finished("1", 3, 5))
	text, err := json.Marshal(s)
	if err != nil || s.EstimateError != (EstimateError{}) || s.StartupMs != nil || strings.Contains(string(text), "startup_ms") {
		t.Errorf("%+v, %v", s, err)
	}
	var table bytes.Buffer
	if err := s.Print(&table); err != nil || strings.Contains(table.String(), "estimates") || strings.Contains(table.String(), "start-up") {
		t.Errorf("%v\n%s", err, &table)
	}
}

// The sizes of errors bound the bias, percentiles are in order, and the order of tasks does not matter.
func TestEstimateErrorOfAnyTasks(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) generator.Row {
		return estimatedAs(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "type"), float64(rapid.IntRange(0, 1000).Draw(t, "run")), rapid.Int64Range(0, 50_000).Draw(t, "estimate"))
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 50).Draw(t, "rows")
		e := fold(info(), rows...).EstimateError
		slices.Reverse(rows)
		back := fold(info(), rows...).EstimateError
		if math.Abs(e.Bias) > e.Mean*(1+1e-9) || e.P50 > e.P95 || !close(e.Mean, back.Mean) || !close(e.Bias, back.Bias) || e.P95 != back.P95 {
			t.Fatalf("%+v, in the other order %+v", e, back)
		}
	})
}

// However many tasks there are, a figure gets a bounded number of them, evenly from the whole run.
func TestCloudsAreThinnedEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "tasks")
		c := cloud{stride: 1}
		for i := range n {
			c.add(float64(i), float64(2*i))
		}
		if c.seen != n || len(c.run) != len(c.estimate) || len(c.run) > cloudPoints || n > cloudPoints && len(c.run) < cloudPoints/2 {
			t.Fatalf("%d points of %d tasks", len(c.run), n)
		}
		step := c.estimate[min(1, len(c.estimate)-1)]
		for i := range c.estimate {
			if c.estimate[i] != float64(i)*step || c.run[i] != 2*c.estimate[i] {
				t.Fatalf("%d tasks: point %d is (%g, %g), every %g-th is drawn", n, i, c.estimate[i], c.run[i], step)
			}
		}
		if n <= cloudPoints && len(c.run) != n || float64(n)-c.estimate[len(c.estimate)-1] > max(step, 1) {
			t.Fatalf("%d tasks: the last point is task %g", n, c.estimate[len(c.estimate)-1])
		}
	})
}

func plotNamed(plots []Plot, name string) *Plot {
	for i := range plots {
		if plots[i].Name == name {
			return &plots[i]
		}
	}
	return nil
}

// A policy whose estimates were wrong brings the figures, and all policies are in them.
func TestFiguresOfEstimates(t *testing.T) {
	dir := t.TempDir()
	fixture{policy: "dodoor", qps: 10, tasks: 700, estimate: 1}.write(t, dir)
	fixture{policy: "pot", qps: 10, tasks: 700, estimate: 0.8}.write(t, dir)
	groups := load(t, dir)
	plots := groups[0].Plots()
	if len(plots) != 5+8+2 || groups[0].EstimateNote() != "" {
		t.Errorf("%d figures, note %q", len(plots), groups[0].EstimateNote())
	}
	scatter := plotNamed(plots, "estimates-qps10")
	if scatter == nil || len(scatter.Figure.Panels) != 2 || !strings.Contains(scatter.Caption, "at most 256") {
		t.Fatalf("%+v", scatter)
	}
	for i, panel := range scatter.Figure.Panels {
		if len(panel.Series) != 2 || panel.Series[0].Label != "linpack" || panel.Series[1].Label != "matmul" || panel.Series[1].Style != 1 {
			t.Errorf("panel %d: %+v", i, panel)
		}
		for k, run := range panel.Series[0].Y {
			if share := run / panel.Series[0].X[k]; math.Abs(share-[]float64{1, 1.25}[i]) > 0.01 {
				t.Fatalf("panel %d: a run of %g estimates", i, share)
			}
		}
	}
	errors := plotNamed(plots, "estimate-error-qps10")
	if errors == nil || len(errors.Figure.Panels[0].Series) != 2 {
		t.Fatalf("%+v", errors)
	}
	if x := errors.Figure.Panels[0].Series[1].X; math.Abs(x[len(x)/2]-25) > 0.5 {
		t.Errorf("the median error of pot is %g %%, want 25", x[len(x)/2])
	}
	drawSVG(t, dir)
}

// Right estimates need no figure, but a word.
func TestExactEstimates(t *testing.T) {
	dir := t.TempDir()
	fixture{policy: "dodoor", qps: 10, tasks: 50, estimate: 1}.write(t, dir)
	drawSVG(t, dir)
	page := read(t, dir, htmlFile)
	if strings.Contains(page, "estimates-qps10") || !strings.Contains(page, "Every task took what had been estimated, to 1 %: there are no figures of estimates.") {
		t.Error("the page has figures of estimates, or does not say why it has none")
	}
	none := t.TempDir()
	fixture{policy: "dodoor", qps: 10, tasks: 50}.write(t, none)
	if note := load(t, none)[0].EstimateNote(); note != "" {
		t.Errorf("without estimates: %q", note)
	}
}

func TestSpread(t *testing.T) {
	lines := []SpreadLine{{"linpack", []float64{1, 1.1, 0.9}}, {"matmul", []float64{30}}, {"linpack", []float64{5, 5}}}
	var first, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &again} {
		if err := DrawSpread(w, "Run times on class half", lines); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Error("two drawings differ")
	}
	for _, want := range []string{">Run times on class half<", ">linpack<", ">matmul<", ">mean run time (s)<"} {
		if strings.Count(first.String(), want) != 1 {
			t.Errorf("%q stands there %d times", want, strings.Count(first.String(), want))
		}
	}
	if err := DrawSpread(&first, "", nil); err == nil {
		t.Error("a picture of nothing")
	}
}

// Timers ring late: 4 ms on the wall are 80 ms of trace time here, and no wrong estimate. Nor is 1 % of a long
// task.
func TestTimersAreNoMisjudgement(t *testing.T) {
	for _, c := range []struct {
		run      float64 // ms on the wall
		estimate int64   // ms of trace time, 20 times as many
		want     bool
	}{{10, 120, false}, {10, 280, false}, {10, 90, true}, {10, 310, true}, {1000, 19_850, false}, {1000, 19_700, true}} {
		e := estimates{clouds: map[string]*cloud{}}
		row := estimatedAs("a", c.run, c.estimate)
		e.add(&row, 20)
		if e.off != c.want {
			t.Errorf("%g ms where %d were estimated: %t", c.run, c.estimate/20, e.off)
		}
	}
}
