package calibrate

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/conf"
	"dodoor/report/metrics"
	"dodoor/report/stats"
)

// The three verdicts on an interval, with a tolerance of 5 %.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name      string
		low, high float64
		pairs     int
		want      Verdict
	}{
		{"all within", -0.02, 0.03, 3, Agrees},
		{"within, and certainly not zero", 0.01, 0.04, 3, Agrees},
		{"to the bounds", -0.05, 0.05, 3, Agrees},
		{"all above", 0.06, 0.2, 3, Differs},
		{"all below", -0.2, -0.06, 3, Differs},
		{"across the upper bound", 0.04, 0.06, 3, Undecided},
		{"across the lower bound", -0.06, 0, 3, Undecided},
		{"wider than the tolerance", -0.5, 0.5, 3, Undecided},
		{"from the bound on", 0.05, 0.06, 3, Undecided},
		{"one pair, within", 0.01, 0.01, 1, Undecided},
		{"one pair, beyond", 0.5, 0.5, 1, Undecided},
		{"no pair", math.NaN(), math.NaN(), 0, Undecided},
	} {
		if got := judge(stats.Change{Mean: (c.low + c.high) / 2, Low: c.low, High: c.high, Pairs: c.pairs}, 0.05); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A cell is as good as its worst figure.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		of   []Verdict
		want Verdict
	}{
		{[]Verdict{Agrees, Agrees}, Agrees},
		{[]Verdict{Agrees, Undecided, Agrees}, Undecided},
		{[]Verdict{Undecided, Differs, Agrees}, Differs},
		{[]Verdict{Differs, Undecided}, Differs},
	} {
		if got := together(c.of...); got != c.want {
			t.Errorf("%v together: %s, want %s", c.of, got, c.want)
		}
	}
}

// Whatever a single run out of several gives, it never makes a cell differ whose other pairs agree, nor agree
// whose other pairs differ.
func TestOneNoisyRunDecidesNothing(t *testing.T) {
	c := config(t)
	rapid.Check(t, func(t *rapid.T) {
		const tolerance = 0.05
		within := rapid.Bool().Draw(t, "others within")
		var pairs []Pair
		for range rapid.IntRange(1, 9).Draw(t, "others") {
			d := rapid.Float64Range(-tolerance, tolerance).Draw(t, "difference")
			if !within {
				d = rapid.Float64Range(0.06, 2).Draw(t, "difference")
			}
			pairs = append(pairs, pair(1, 1+d))
		}
		pairs = append(pairs, pair(1, rapid.Float64Range(0.01, 100).Draw(t, "noisy run")))
		switch v := NewRow(c, pairs, tolerance).MakespanMean.Verdict; {
		case within && v == Differs:
			t.Fatal("one run made the cell fail")
		case !within && v == Agrees:
			t.Fatal("one run made the cell pass")
		}
	})
}

func config(t *testing.T) *conf.Config {
	t.Helper()
	c, err := conf.Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pair(local, simulated float64) Pair { return Pair{summaryOf(local, 3), summaryOf(simulated, 3)} }

func summaryOf(makespan, control float64) *metrics.Summary {
	s := metrics.Summary{ControlMessagesPerTask: control}
	s.MakespanS.Mean, s.MakespanS.P95, s.SchedulingMs.P50 = makespan, 4*makespan, 0.2
	return &s
}

// Table, page and failures say what the pairs say.
func TestResult(t *testing.T) {
	cells, err := Cells(config(t), "functionbench:dodoor:50:4000:5, with:colon.csv:pot:2:1600:40,azure:prequal:2:1600:40")
	if err != nil {
		t.Fatal(err)
	}
	r := Result{Tolerance: 0.05, Costs: Costs{Scheduler: 70 * time.Microsecond}, Cells: []Row{
		NewRow(cells[0], []Pair{pair(2, 2.02), pair(4, 4.04)}, 0.05),
		NewRow(cells[1], []Pair{
			{summaryOf(100, 3), summaryOf(89, 3.3)}, {summaryOf(200, 3), summaryOf(180, 3.3)}, {summaryOf(100, 3), summaryOf(91, 3.3)},
		}, 0.05),
		NewRow(cells[2], []Pair{pair(1, 1), pair(1, 1.2)}, 0.05),
	}}
	const differs = "-10.0 [-12.5, -7.5]" // 1 % is the standard deviation of -11, -10 and -9 %: 4.303/√3 of it are half the interval
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	const counts = "of 3 cells 1 agree, 1 differ, 1 are undecided"
	for _, want := range []string{"3.000", "3.030", "12.120", "+1.0 [+1.0, +1.0]", "agrees", "with:colon.csv", differs,
		"differs: mean, P95, ctl/task", "undecided: mean, P95", "scheduler 70µs", counts} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	page := r.Page(About{Command: "dodoor calibrate -seeds 3", Machine: "one core", Took: 90 * time.Second})
	for _, want := range []string{"`dodoor calibrate -seeds 3`", "one core", "1m30s", "±5 % for makespans", differs, "| agrees |", counts} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	err = Failures(r.Cells)
	if want := "with:colon-pot-qps2-n1600-scale40 differs: mean makespan " + differs + " %, P95 makespan " + differs +
		" %, control messages per task +10.0 [+10.0, +10.0] %"; err == nil || err.Error() != want {
		t.Errorf("says %v\nwant %s", err, want)
	}
	if err := Failures([]Row{r.Cells[0], r.Cells[2]}); err != nil {
		t.Errorf("nothing differs: %v", err)
	}
}
