package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dodoor/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dodoor runs a command line as a person would, and returns what it prints and its exit code.
func dodoor(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = dispatch(args, &out, &err)
	return out.String(), err.String(), code
}

// local runs `dodoor local -json` and returns its summary.
func local(t *testing.T, args ...string) *report.Summary {
	t.Helper()
	stdout, stderr, code := dodoor(append([]string{"local", "-json", "-quiet", "-out", t.TempDir()}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var s report.Summary
	if err := json.Unmarshal([]byte(stdout), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// Sec. 6: control messages per task are 1 + 1/b_Δ + S/b, exactly, over whole batches; every service is
// real, and the idle cluster's accounts return to zero (runLocal fails otherwise).
func TestPaperMessageBudget(t *testing.T) {
	for _, c := range []struct {
		conf string
		want float64
	}{{"paper", 1.175}, {"paper-as-run", 1.35}} {
		s := local(t, "-conf", c.conf, "-trace", "functionbench", "-n", "800", "-warmup", "100", "-qps", "20", "-time-scale", "10")
		if s.Completed != 800 || s.Tasks != 800 {
			t.Errorf("%s: %d of %d completed", c.conf, s.Completed, s.Tasks)
		}
		if s.ControlMessagesPerTask != c.want || s.Messages.Submit != 800 {
			t.Errorf("%s: %v control messages per task (%+v), want %v", c.conf, s.ControlMessagesPerTask, s.Messages, c.want)
		}
		if s.Messages.Enqueue != 800 || s.Messages.Probe != 0 {
			t.Errorf("%s: messages %+v: one enqueue per task and no probes", c.conf, s.Messages)
		}
	}
}

// Coalescing puts what waits for a busy peer into one message; nothing else changes.
func TestCoalescing(t *testing.T) {
	s := local(t, "-n", "2000", "-qps", "40", "-time-scale", "200")
	if s.Completed != 2000 {
		t.Errorf("%d of %d completed", s.Completed, s.Tasks)
	}
	if s.Messages.Submit > 2000 || s.Messages.Enqueue > 2000 {
		t.Errorf("messages %+v: no more than one per task", s.Messages)
	}
}

// Fifty real processes: the measured CPU time matches the demand within 15 %. The worker has one core of
// the machine's, so that other tests leave it what it needs.
func TestStressNGRun(t *testing.T) {
	requireStressNG(t)
	trace := filepath.Join(t.TempDir(), "trace.csv")
	var b strings.Builder
	wanted := 0.0
	for i := range 50 {
		cores := []float64{0.5, 0.3, 0.25}[i%3]
		duration := 400 + 50*(i%5)
		wanted += cores * float64(duration)
		fmt.Fprintf(&b, "%d,%g,32,0,%d,%d,simulated,short\n", i, cores, duration, 10*i)
	}
	if err := os.WriteFile(trace, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	_, stderr, code := dodoor("local", "-conf", "single", "-quiet", "-set", `http.listen=""`, "-set", "class.laptop.cores=1", "-set", "class.laptop.slots=4", "-trace", trace, "-n", "50", "-warmup", "0", "-qps", "5", "-out", out)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	measured := 0.0
	for _, r := range rowsIn(t, out) {
		if r.Outcome.String() != "finished" {
			t.Errorf("task %s: %v: %s", r.TaskID, r.Outcome, r.Reason)
		}
		measured += float64(r.CPU.Milliseconds())
	}
	if measured < 0.85*wanted || measured > 1.15*wanted {
		t.Errorf("%.0f ms of CPU time measured, the demand is %.0f core-ms", measured, wanted)
	}
}

// A named extra resource is one more dimension, from the trace to the worker: tasks that need a gpu run
// only where there is one, and never two at a time.
func TestExtraResource(t *testing.T) {
	config := write(t, "gpu.toml", `
[scheduler]
replicas = 2
[worker]
executor = "sleep"
[[class]]
name = "plain"
cores = 8
memory_mb = 1000
count = 3
[[class]]
name = "accelerated"
cores = 8
memory_mb = 1000
count = 2
extra = { gpu = 1 }
[[task_type]]
name = "simulated"
`)
	var b strings.Builder
	b.WriteString("id,cores,memoryMB,diskMB,durationMs,startMs,type,mode,gpu\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d,1,10,0,100,%d,simulated,short,%d\n", i, i, i%2)
	}
	out := t.TempDir()
	_, stderr, code := dodoor("local", "-conf", config, "-quiet", "-trace", write(t, "t.csv", b.String()), "-n", "30", "-warmup", "0", "-qps", "1000", "-out", out)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	type span struct{ from, to time.Duration }
	busy := map[string][]span{}
	for _, r := range rowsIn(t, out) {
		if id, _ := strconv.Atoi(r.TaskID); id%2 == 0 {
			continue
		}
		if r.Class != "accelerated" {
			t.Errorf("task %s needs a gpu and ran on class %s", r.TaskID, r.Class)
		}
		for _, other := range busy[r.Worker] {
			// Instants of different tasks on one worker are placed by two schedulers' clocks: they agree to well under
			// the 100 ms that a task runs.
			if overlap := min(r.Finished, other.to) - max(r.Started, other.from); overlap > 50*time.Millisecond {
				t.Errorf("two tasks held the one gpu of %s together for %v", r.Worker, overlap)
			}
		}
		busy[r.Worker] = append(busy[r.Worker], span{r.Started, r.Finished})
	}
	if len(busy) != 2 {
		t.Errorf("gpu tasks ran on %d workers, want both", len(busy))
	}
}
