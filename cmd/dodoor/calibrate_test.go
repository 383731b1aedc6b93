package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/report"
)

// Both sides run the same tasks under the same policy, and count the same messages. How far makespans may
// lie apart on a machine that runs other tests at the same time, nobody knows.
func TestCalibrate(t *testing.T) {
	out := t.TempDir()
	stdout, stderr, code := dodoor("calibrate", "-cells", "functionbench:pot:50:400:50,functionbench:dodoor:50:400:50", "-tolerance", "1e9", "-json", "-quiet", "-out", out)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var found struct {
		Costs costs        `json:"costs"`
		Cells []calibrated `json:"cells"`
	}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err)
	}
	if c := found.Costs; c.Scheduler <= 0 || c.Data <= 0 || c.Worker <= 0 {
		t.Errorf("requests cost %+v", c)
	}
	var control []float64
	for _, row := range found.Cells {
		if row.Local.MakespanMeanS <= 0 || row.Sim.MakespanMeanS <= 0 {
			t.Errorf("got %+v", row)
		}
		control = append(control, row.Local.ControlMessagesPerTask, row.Sim.ControlMessagesPerTask)
	}
	if !slices.Equal(control, []float64{3, 3, 1.175, 1.175}) {
		t.Errorf("control messages per task: %v", control)
	}
	runs, notes, err := report.LoadRuns(onlyDir(t, out))
	if err != nil || len(runs) != 4 || len(notes) != 0 {
		t.Errorf("%d runs, %v, %v", len(runs), notes, err)
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

// The tables say what differs; so does the error, beyond the tolerance.
func TestCalibrationVerdict(t *testing.T) {
	c, err := conf.Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	k := calibration{costs: costs{Scheduler: 70 * time.Microsecond}}
	if err := k.list(c, "functionbench:dodoor:50:4000:5, with:colon.csv:pot:2:1600:40"); err != nil {
		t.Fatal(err)
	}
	rows := []calibrated{
		calibrate(k.cells[0], summaryOf(2, 8, 1.175), summaryOf(1.92, 8.2, 1.1755)),
		calibrate(k.cells[1], summaryOf(100, 200, 3), summaryOf(101, 213, 3.01)),
	}
	var b bytes.Buffer
	err = k.print(&b, rows, 0.05, false)
	for _, want := range []string{"-4.0 %", "+2.5 %", "+6.5 %", "1.175", "3.010", "with:colon.csv", "scheduler 70µs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err == nil || err.Error() != "with:colon-pot-qps2-n1600-scale40: P95 makespan differs by +6.5 %, control messages per task are 3.000 and 3.010" {
		t.Errorf("the verdict is %v", err)
	}
	if err := k.print(&b, rows[:1], 0.041, false); err != nil {
		t.Errorf("within the tolerance: %v", err)
	}
	if err := k.print(&b, rows[:1], 0.03, true); err == nil || !strings.Contains(err.Error(), "mean makespan differs by -4.0 %") {
		t.Errorf("beyond the tolerance: %v", err)
	}
}

func summaryOf(mean, p95, control float64) *report.Summary {
	s := report.Summary{ControlMessagesPerTask: control}
	s.MakespanS.Mean, s.MakespanS.P95 = mean, p95
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
		{[]string{"-tolerance", "-1"}, "must not be negative"},
		{[]string{"-tolerance", "NaN"}, "must not be negative"},
	} {
		_, stderr, code := dodoor(append([]string{"calibrate", "-out", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit code %d, says %q; want %d and %q", c.args, code, stderr, exitUsage, c.says)
		}
	}
}
