package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/generator"
	"dodoor/report/reporttest"
)

// estimatedAs is a task that ran for so many milliseconds on the wall.
func estimatedAs(typ string, run float64, estimate int64) generator.Row {
	r := reporttest.Finished("x", 0, run)
	r.Type, r.Estimate = typ, estimate
	return r
}

// Time scale 20: runs of 10, 20 and 30 ms took 200, 400 and 600 ms of trace time.
func TestEstimateErrorByHand(t *testing.T) {
	slow, warm := estimatedAs("a", 30, 300), estimatedAs("a", 1000, 1)
	slow.Startup, warm.Startup, warm.Warmup = reporttest.At(7), reporttest.At(900), true
	s := fold(reporttest.Info(), estimatedAs("a", 10, 250), estimatedAs("b", 20, 400), slow, warm, estimatedAs("a", 50, 0))
	want := EstimateError{Mean: (0.2 + 0 + 1) / 3, P50: 0.2, P95: 1, Bias: (-0.2 + 0 + 1) / 3}
	if e := s.EstimateError; !close(e.Mean, want.Mean) || !close(e.P50, want.P50) || !close(e.P95, want.P95) || !close(e.Bias, want.Bias) {
		t.Errorf("got %+v, want %+v", e, want)
	}
	if s.StartupMs == nil || !close(s.StartupMs.Mean, 140) || !close(s.StartupMs.Max, 140) {
		t.Errorf("start-up %+v, want 7 ms on the wall, once", s.StartupMs)
	}
	var text bytes.Buffer
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(),
		"estimates    off by 40.0 % on average, p50 20.0 %, p95 100.0 %; bias +26.7 %") ||
		!strings.Contains(text.String(), "start-up") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// What nobody measured or estimated does not appear.
func TestNoEstimates(t *testing.T) {
	s := fold(reporttest.Info(), reporttest.Finished("0", 0, 5), reporttest.Finished("1", 3, 5))
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
		return estimatedAs(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "type"), float64(rapid.IntRange(0, 1000).Draw(t, "run")),
			rapid.Int64Range(0, 50_000).Draw(t, "estimate"))
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 50).Draw(t, "rows")
		e := fold(reporttest.Info(), rows...).EstimateError
		slices.Reverse(rows)
		back := fold(reporttest.Info(), rows...).EstimateError
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
		if c.seen != n || len(c.run) != len(c.estimate) || len(c.run) > CloudPoints || n > CloudPoints && len(c.run) < CloudPoints/2 {
			t.Fatalf("%d points of %d tasks", len(c.run), n)
		}
		step := c.estimate[min(1, len(c.estimate)-1)]
		for i := range c.estimate {
			if c.estimate[i] != float64(i)*step || c.run[i] != 2*c.estimate[i] {
				t.Fatalf("%d tasks: point %d is (%g, %g), every %g-th is drawn", n, i, c.estimate[i], c.run[i], step)
			}
		}
		if n <= CloudPoints && len(c.run) != n || float64(n)-c.estimate[len(c.estimate)-1] > max(step, 1) {
			t.Fatalf("%d tasks: the last point is task %g", n, c.estimate[len(c.estimate)-1])
		}
	})
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
