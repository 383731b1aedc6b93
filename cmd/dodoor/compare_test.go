package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/report"
)

// Four policies × two rates: every run complete, and control messages per task exactly random 1, pot 3,
// prequal 1 + r_probe = 4, dodoor by the formula. A finished run is not run again.
func TestCompare(t *testing.T) {
	out := t.TempDir()
	args := []string{"compare", "-conf", "paper", "-trace", "functionbench", "-policies", "dodoor,pot,prequal,random", "-baseline", "pot",
		"-qps", "20,40", "-seeds", "1", "-n", "400", "-warmup", "50", "-time-scale", "40", "-quiet", "-json", "-out", out}
	stdout, stderr, code := dodoor(args...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var rows []report.Comparison
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"dodoor": 1.175, "pot": 3, "prequal": 4, "random": 1}
	if len(rows) != 8 {
		t.Fatalf("%d rows, want 8", len(rows))
	}
	for _, r := range rows {
		if r.Incomplete != 0 || r.ControlMessagesPerTask != want[r.Policy] {
			t.Errorf("%s at %g: %d incomplete, %v control messages per task, want %v", r.Policy, r.QPS, r.Incomplete, r.ControlMessagesPerTask, want[r.Policy])
		}
	}
	again, stderr, code := dodoor(args...)
	if code != exitDone || again != stdout || strings.Contains(stderr, "run 1 of") {
		t.Errorf("the second time: exit code %d, ran again or printed something else\n%s", code, stderr)
	}
	if _, stderr, code := dodoor(append(args, "-set", "score.alpha=0.3")...); code != exitUsage || !strings.Contains(stderr, "score.alpha") {
		t.Errorf("other settings in the same directory: exit code %d, %q", code, stderr)
	}
}

// A run that was cut off is cleared away and run again.
func TestCompareGoesOnAfterACut(t *testing.T) {
	out := t.TempDir()
	args := []string{"compare", "-policies", "random", "-qps", "50", "-seeds", "1", "-n", "200", "-warmup", "0", "-time-scale", "40", "-quiet", "-out", out}
	if _, stderr, code := dodoor(args...); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	path := filepath.Join(out, "random-qps50-seed1", "run.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var info map[string]any
	if err := json.Unmarshal(text, &info); err != nil {
		t.Fatal(err)
	}
	info["ended"] = nil
	if text, err = json.Marshal(info); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := dodoor(args...); code != exitDone || !strings.Contains(stderr, "run 1 of 1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Simulated runs go side by side; their figures come in the order of the plan, and the same every time.
func TestCompareSimulated(t *testing.T) {
	out := t.TempDir()
	args := []string{"compare", "-on", "sim", "-conf", "paper", "-trace", "functionbench", "-policies", "pot,oracle", "-qps", "40", "-seeds", "2",
		"-n", "400", "-warmup", "50", "-json", "-out", out}
	stdout, stderr, code := dodoor(args...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var rows []report.Comparison
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Policy != "pot" || rows[1].Policy != "oracle" || rows[1].Runs != 2 || rows[1].Incomplete != 0 {
		t.Fatalf("got %+v", rows)
	}
	if rows[0].ControlMessagesPerTask != 3 || rows[1].ControlMessagesPerTask != 1 || rows[1].MakespanMeanS >= rows[0].MakespanMeanS {
		t.Errorf("who knows everything needs no probes, and places better: got %+v", rows)
	}
	if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
		t.Error(err)
	}
	if again, stderr, code := dodoor(args...); code != exitDone || again != stdout || strings.Contains(stderr, "run 1 of") {
		t.Errorf("the second time: exit code %d, ran again or printed something else\n%s", code, stderr)
	}
	elsewhere := append(args, "-on", "local", "-policies", "pot")
	if _, stderr, code := dodoor(elsewhere...); code != exitUsage || !strings.Contains(stderr, "was run on sim") {
		t.Errorf("another place in the same directory: exit code %d, %q", code, stderr)
	}
	if elsewhere, stderr, code := dodoor(append(args, "-out", t.TempDir())...); code != exitDone || elsewhere != stdout {
		t.Errorf("the same seeds give other figures (exit code %d)\n%s", code, stderr)
	}
}

func TestCompareUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-policies", "magic"}, "known: dodoor, dodoor+"},
		{[]string{"-policies", "dodoor,dodoor"}, "would run twice"},
		{[]string{"-qps", "0"}, "above 0"},
		{[]string{"-qps", "ten"}, "must be numbers"},
		{[]string{"-seeds", "0"}, "between 1"},
		{[]string{"-baseline", "pot"}, "not among"},
		{[]string{"-on", "moon"}, "local or sim"},
		{[]string{"-on", "cluster"}, "local or sim"},
		{[]string{"-on", "sim", "-policies", "magic"}, "oracle"},
	} {
		_, stderr, code := dodoor(append([]string{"compare", "-out", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit code %d, says %q; want %d and %q", c.args, code, stderr, exitUsage, c.says)
		}
	}
}
