package main

import (
	"encoding/json"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// What tasks took is told by name, as a table and for programs.
func TestEstimatesOfJobs(t *testing.T) {
	on := jobsCluster(t)
	if stdout, stderr, code := on("estimates"); code != exitDone || stdout != "" || !strings.Contains(stderr, "no scheduler has learned") {
		t.Errorf("at first: exit code %d: %s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{
		{"-cores", "auto", "-memory", "auto", "-name", "nightly", "--", "sleep", "0.0{}", ":::", "1", "2", "3"},
		{"-cores", "0.1", "--", "true"},
	} {
		if _, stderr, code := on(append([]string{"run", "-quiet"}, args...)...); code != exitDone {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	stdout, stderr, code := on("estimates")
	if code != exitDone || !strings.HasPrefix(stdout, "nightly") || !strings.Contains(stdout, "\n  class ") ||
		!strings.Contains(stdout, "\ntrue") || !strings.Contains(stdout, "learned\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = on("estimates", "-name", "ight", "-json")
	var e estimateObject
	if err := json.Unmarshal([]byte(stdout), &e); code != exitDone || err != nil || e.Name != "nightly" || e.Class != "laptop" ||
		e.Rule != "learned" || e.Runs < 1 || e.Runs > 3 || e.Median < 10 || e.Expected != e.Median {
		t.Errorf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
}

// Its lines have at most 80 columns, but for the longest names, and line up, however much was seen of however long runs.
func TestTheTableOfEstimates(t *testing.T) {
	got := estimateText([]cluster.Estimate{
		{Name: strings.Repeat("x", cluster.MaxLearned), Class: "c6525-25g", Duration: cluster.MaxDuration, Rule: cluster.LearnedRule,
			Count: 12_345_678, Median: 359_999_000, P95: 3_599_999, Off: cluster.MaxMiss, Cores: 950, Memory: 120},
		{Name: "y/short", Class: "auto-0.5c-1024m", Duration: 12_345, Rule: cluster.BorrowedRule},
	})
	want := strings.Repeat("x", 64) + `: 0.95 cores, 120 MB
  class               runs  expected    median       P95    off  rule
  c6525-25g       12345678    365.0d    100h0m    1h0m0s  9999%  learned
y/short
  class               runs  expected    median       P95    off  rule
  auto-0.5c-1024m        0   12.345s         -         -      -  borrowed
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if len(line) > 81 && !strings.HasPrefix(line, "x") {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}
