package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/experiment/calibrate"
	"dodoor/report/metrics"
	"dodoor/report/results"
)

// Both sides run the same tasks, and count the same messages. How far makespans may lie apart on a machine that runs
// other tests at the same time, nobody knows.
func TestCalibrate(t *testing.T) {
	out := t.TempDir()
	page := filepath.Join(t.TempDir(), "docs", "page.md")
	stdout, stderr, code := dodoor("calibrate",
		"-cells", "functionbench:dodoor:50:200:50",
		"-seeds", "2", "-seed", "7", "-tolerance", "1e9", "-json", "-quiet", "-out", out, "-md", page)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var found calibrate.Result
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err)
	}
	if c := found.Costs; c.Scheduler <= 0 || c.Data <= 0 || c.Worker <= 0 {
		t.Errorf("requests cost %+v", c)
	}
	for _, row := range found.Cells {
		if row.Local.MakespanMeanS <= 0 || row.Sim.MakespanMeanS <= 0 || row.MakespanMean.Pairs != 2 || row.Verdict != calibrate.Agrees {
			t.Errorf("got %+v", row)
		}
		if row.Local.ControlMessagesPerTask != 1.175 || row.Sim.ControlMessagesPerTask != 1.175 {
			t.Errorf("control messages per task: %+v", row)
		}
	}
	if len(found.Cells) != 1 {
		t.Errorf("%d cells", len(found.Cells))
	}
	for _, want := range []string{
		"pair 1 of 2: functionbench-dodoor-qps50-n200-scale50-seed7, 0s elapsed, about",
		"pair 2 of 2: functionbench-dodoor-qps50-n200-scale50-seed8",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	text, err := os.ReadFile(page)
	for _, want := range []string{"`dodoor calibrate -cells functionbench:dodoor", "| functionbench | dodoor | 50 | 200 | 50 | 2 |"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, no %q in\n%s", err, want, text)
		}
	}
	runs, notes, err := results.Load(onlyDir(t, out))
	if err != nil || len(runs) != 4 || len(notes) != 0 {
		t.Errorf("%d runs, %v, %v", len(runs), notes, err)
	}
	seeds := map[uint64]int{}
	for _, r := range runs {
		seeds[r.Seed]++
	}
	if seeds[7] != 2 || seeds[8] != 2 {
		t.Errorf("runs by seed: %v", seeds)
	}
}

func onlyDir(t *testing.T, parent string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(parent, "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("in %s: %v, %v", parent, dirs, err)
	}
	return dirs[0]
}

// The exit code is 1 when a cell differs, and not when one is undecided.
func TestCalibrationExitCode(t *testing.T) {
	c, err := conf.Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(differences ...float64) (all []calibrate.Pair) {
		for _, d := range differences {
			all = append(all, calibrate.Pair{Local: summaryOf(1), Sim: summaryOf(1 + d)})
		}
		return all
	}
	for _, test := range []struct {
		pairs []calibrate.Pair
		code  int
	}{
		{pairs(0.01, 0.012, 0.011), exitDone},
		{pairs(0.2, 0.01, 0.01), exitDone}, // undecided
		{pairs(0.2, 0.21, 0.205), exitFailed},
	} {
		for _, asJSON := range []bool{false, true} {
			var stdout, stderr bytes.Buffer
			o := newOptions("calibrate", "", "", "paper", &stderr)
			result := calibrate.Result{Cells: []calibrate.Row{calibrate.NewRow(c, test.pairs, 0.05)}}
			code := o.printCalibration(&stdout, &result, "", asJSON)
			if code != test.code || (code == exitFailed) != strings.Contains(stderr.String(), "azure-dodoor-qps5") || stdout.Len() == 0 {
				t.Errorf("%v: exit code %d, want %d, says %q", result.Cells[0].MakespanMean, code, test.code, stderr.String())
			}
		}
	}
}

func summaryOf(makespan float64) *metrics.Summary {
	s := metrics.Summary{ControlMessagesPerTask: 3}
	s.MakespanS.Mean, s.MakespanS.P95 = makespan, makespan
	return &s
}

func TestCalibrateUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-cells", "functionbench:dodoor:50"}, "trace:policy:qps:n:time-scale"},
		{[]string{"-cells", "functionbench:dodoor:fast:4000:5"}, "fast"},
		{[]string{"-cells", "functionbench:dodoor:50:4000:0.5"}, "time_scale"},
		{[]string{"-cells", "functionbench:oracle:50:4000:5"}, "simulator alone"},
		{[]string{"-cells", "azure:pot:2:400:40,azure:pot:2:400:40"}, "would run twice"},
		{[]string{"-cells", "azure:pot:2:400:40,/nowhere/trace.csv:pot:2:400:40"}, "/nowhere/trace.csv"},
		{[]string{"-seeds", "1"}, "a single pair has no interval"},
		{[]string{"-md", "/dev/null/page.md"}, "/dev/null"},
		{[]string{"-tolerance", "-1"}, "must not be negative"},
		{[]string{"-tolerance", "NaN"}, "must not be negative"},
	} {
		_, stderr, code := dodoor(append([]string{"calibrate", "-out", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit code %d, says %q; want %d and %q", c.args, code, stderr, exitUsage, c.says)
		}
	}
}
