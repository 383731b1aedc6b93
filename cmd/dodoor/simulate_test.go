package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/experiment"
	"dodoor/generator/rundir"
	"dodoor/report/metrics"
)

// A simulated run leaves the files of a real one, every task with its row, and the same seed the same bytes.
func TestSimulate(t *testing.T) {
	var rows [2][]byte
	for i := range rows {
		out := t.TempDir()
		stdout, stderr, code := dodoor("simulate", "-conf", "paper", "-trace", "functionbench", "-n", "800", "-warmup", "100", "-qps", "20",
			"-set", "worker.noise=0.5", "-quiet", "-out", out)
		if code != exitDone || !strings.Contains(stdout, "dodoor on sim: functionbench") || !strings.Contains(stdout, "events in") {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
		dirs, err := filepath.Glob(filepath.Join(out, "*"))
		if err != nil || len(dirs) != 1 {
			t.Fatalf("runs in %s: %v, %v", out, dirs, err)
		}
		if rows[i], err = os.ReadFile(filepath.Join(dirs[0], "tasks.csv")); err != nil {
			t.Fatal(err)
		}
		checkSimulated(t, dirs[0])
	}
	if !bytes.Equal(rows[0], rows[1]) {
		t.Error("the same seed gave other rows")
	}
}

// checkSimulated checks the directory of TestSimulate's run. 1.175 is 1 + 1/b_Δ + S/b (Sec. 6).
func checkSimulated(t *testing.T, dir string) {
	t.Helper()
	info, err := rundir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.On != experiment.OnSim || info.Ended == nil || info.Stopped || info.Tasks != 800 || info.Warmup != 100 || info.Schedulers != 5 ||
		len(info.Classes) != 4 {
		t.Errorf("run.json says %+v", info)
	}
	if costs, ok := info.Settings["sim"].(map[string]any); !ok || costs["worker_cost"] != "200µs" {
		t.Errorf("the settings lack what messages cost: %v", info.Settings["sim"])
	}
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s metrics.Summary
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.Completed != 800 || s.Tasks != 800 || s.ControlMessagesPerTask != 1.175 || s.Messages.Enqueue != 800 {
		t.Errorf("%d of %d completed, %v control messages per task, %+v", s.Completed, s.Tasks, s.ControlMessagesPerTask, s.Messages)
	}
	nodes, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	if err != nil || bytes.Count(nodes, []byte("\n")) < 30*100 {
		t.Errorf("40 s with 100 nodes have %d samples, %v", bytes.Count(nodes, []byte("\n")), err)
	}
}

func TestOracleExistsInTheSimulatorAlone(t *testing.T) {
	small := []string{"-policy", "oracle", "-n", "300", "-json", "-quiet", "-out", t.TempDir()}
	stdout, stderr, code := dodoor(append([]string{"simulate"}, small...)...)
	var s metrics.Summary
	if err := json.Unmarshal([]byte(stdout), &s); code != exitDone || err != nil || s.Policy != "oracle" || s.Completed != 300 {
		t.Errorf("simulate: exit code %d, %v, %+v\n%s", code, err, s, stderr)
	}
	for _, args := range [][]string{
		append([]string{"local"}, small...),
		{"compare", "-policies", "oracle", "-out", t.TempDir()},
		{"scheduler", "-policy", "oracle"},
	} {
		if _, stderr, code := dodoor(args...); code != exitUsage || !strings.Contains(stderr, "the oracle exists in the simulator alone: use "+
			"dodoor simulate") {
			t.Errorf("%s: exit code %d, says %q", args[0], code, stderr)
		}
	}
}

// What could never run is refused before it begins, and leaves nothing behind.
func TestImpossibleScenario(t *testing.T) {
	out := t.TempDir()
	trace := write(t, "t.csv", "0,1,10,0,5,0,simulated,short\n1,1000000,10,0,5,1,simulated,short\n")
	for _, command := range []string{"simulate", "compare"} {
		args := []string{command, "-trace", trace, "-n", "2", "-warmup", "0", "-quiet", "-out", out}
		if command == "compare" {
			args = append(args, "-on", "sim", "-seeds", "1")
		}
		if _, stderr, code := dodoor(args...); code != exitUsage || !strings.Contains(stderr, "needs more than any node has") {
			t.Errorf("%s: exit code %d, says %q", command, code, stderr)
		}
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A run with failures ends with what they cost; where tasks were lost, the exit code says so.
func TestSimulatedFailures(t *testing.T) {
	fault := "sim.fault=[{what='class', name='c6620', at='3s', until='8s'}, {what='datastore', at='5s', until='10s'}]"
	stdout, stderr, code := dodoor("simulate", "-conf", "paper", "-trace", "functionbench", "-n", "400", "-qps", "20", "-set", fault, "-json",
		"-quiet", "-out", t.TempDir())
	var s metrics.Summary
	if err := json.Unmarshal([]byte(stdout), &s); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if (code == exitDone) != (s.Completed == 400) || s.Retried == 0 || s.Tasks != 400 {
		t.Errorf("exit code %d with %d of %d completed, %d retried\n%s", code, s.Completed, s.Tasks, s.Retried, stderr)
	}
}
