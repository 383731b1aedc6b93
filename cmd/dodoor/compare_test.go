package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// compared is what the tests read of comparison.json.
type compared struct {
	Policy                 string  `json:"policy"`
	QPS                    float64 `json:"qps"`
	Runs                   int     `json:"runs"`
	Incomplete             int     `json:"incomplete"`
	MakespanMeanS          float64 `json:"makespan_mean_s"`
	ControlMessagesPerTask float64 `json:"control_messages_per_task"`
}

// Simulated runs go side by side; their figures come in the order of the plan. Without -qps, a comparison takes the
// rate of the configuration, which knows its cluster.
func TestCompareSimulated(t *testing.T) {
	out := t.TempDir()
	args := []string{"compare", "-on", "sim", "-conf", "paper", "-trace", "functionbench", "-policies", "pot,oracle", "-seeds", "2",
		"-n", "200", "-warmup", "50", "-out", out}
	stdout, stderr, code := dodoor(append(args, "-json")...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var rows []compared
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Policy != "pot" || rows[1].Policy != "oracle" || rows[1].Runs != 2 || rows[1].Incomplete != 0 {
		t.Fatalf("got %+v", rows)
	}
	if rows[0].QPS != 5 || rows[0].ControlMessagesPerTask != 3 || rows[1].ControlMessagesPerTask != 1 ||
		rows[1].MakespanMeanS >= rows[0].MakespanMeanS {
		t.Errorf("who knows everything needs no probes, and places better: got %+v", rows)
	}
	for _, name := range []string{"report.html", "comparison.json", filepath.Join("pot-qps5-seed1", "run.json")} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if _, stderr, code := dodoor(append(args, "-on", "local", "-policies", "pot")...); code != exitUsage ||
		!strings.Contains(stderr, "was run on sim") {
		t.Errorf("another place in the same directory: exit code %d, %q", code, stderr)
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
		{[]string{"-on", "moon"}, "local, sim or cluster"},
		{[]string{"-on", "cluster"}, "no [[host]] table"},
		{[]string{"-on", "sim", "-policies", "magic"}, "oracle"},
	} {
		_, stderr, code := dodoor(append([]string{"compare", "-out", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit code %d, says %q; want %d and %q", c.args, code, stderr, exitUsage, c.says)
		}
	}
}
