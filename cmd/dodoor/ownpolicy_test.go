package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/report/metrics"
)

// A new policy with a knob is one file: with testdata/widest.go laid over package baselines, and nothing else
// changed, the program knows the policy, its default and its range, and runs it.
func TestAPolicyIsOneFile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := buildWith(t, "widest.go")
	run := func(args ...string) (stdout, stderr string) {
		t.Helper()
		var out, err strings.Builder
		c := exec.Command(program, args...)
		c.Stdout, c.Stderr = &out, &err
		if failed := c.Run(); failed != nil {
			return "", err.String()
		}
		return out.String(), err.String()
	}
	if shown, _ := run("conf", "show", "paper"); !strings.Contains(shown, "\n[widest]\nnodes = 2\n") {
		t.Errorf("conf show lacks the knob:\n%s", shown)
	}
	if _, problem := run("simulate", "-policy", "widest", "-set", "widest.nodes=0"); !strings.Contains(problem,
		"-set widest.nodes=0: must be between 1 and 100, found 0") {
		t.Errorf("a value out of range: %s", problem)
	}
	for _, command := range []string{"simulate", "local"} {
		share := map[string]float64{} // of the tasks, on the widest nodes
		for _, nodes := range []string{"1", "16"} {
			out, problem := run(command, "-conf", "paper", "-policy", "widest", "-set", "widest.nodes="+nodes, "-trace", "functionbench",
				"-n", "400", "-warmup", "0", "-qps", "20", "-time-scale", "20", "-json", "-quiet", "-out", t.TempDir())
			var s metrics.Summary
			if err := json.Unmarshal([]byte(out), &s); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, problem)
			}
			if s.Completed != 400 || s.Policy != "widest" {
				t.Errorf("%s: %d of 400 tasks completed under %s", command, s.Completed, s.Policy)
			}
			share[nodes] = float64(s.PerClass["c6620"].Tasks) / 400
		}
		if share["1"] > 0.5 || share["16"] < 0.8 {
			t.Errorf("%s: shares of the widest nodes, by nodes compared: %v", command, share)
		}
	}
}

// buildWith builds the program with a file of testdata in package baselines.
func buildWith(t *testing.T, file string) (program string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	target, err := filepath.Abs(filepath.Join("../../baselines", file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{target: source}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "dodoor")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
