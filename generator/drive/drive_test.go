package drive

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/report/results"
)

// workload is n tasks, one per gap.
func workload(t *testing.T, n int, gap time.Duration) *generator.Workload {
	t.Helper()
	requests := make([]generator.Request, n)
	for i := range requests {
		requests[i] = generator.Request{ID: fmt.Sprintf("t%d", i), Type: "matmul", Mode: "short",
			Demand: cluster.Resources{1000, 64}, Duration: 100, Start: time.Duration(i) * gap}
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func fakes(t *testing.T, names ...string) (list []*fakeScheduler) {
	for _, name := range names {
		list = append(list, newFake(t, name))
	}
	return list
}

func config(t *testing.T, w *generator.Workload, schedulers []*fakeScheduler) Config {
	c := Config{Workload: w, Dir: filepath.Join(t.TempDir(), "run"), Log: slog.New(slog.DiscardHandler)}
	for _, s := range schedulers {
		c.Schedulers = append(c.Schedulers, Target{Name: s.name, Service: s})
	}
	return c
}

func replay(t *testing.T, ctx context.Context, c Config) Result {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := d.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// rows reads what a run left behind and checks that every task has exactly one row.
func rows(t *testing.T, c Config, result Result) map[string]generator.Row {
	t.Helper()
	file, err := os.Open(filepath.Join(c.Dir, "tasks.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]generator.Row{}
	for r := generator.NewRowReader(file); ; {
		var row generator.Row
		err := r.Read(&row)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := all[row.TaskID]; twice {
			t.Errorf("task %s has two rows", row.TaskID)
		}
		all[row.TaskID] = row
	}
	for i := range c.Workload.Len() {
		if _, ok := all[c.Workload.ID(i)]; !ok {
			t.Errorf("task %s has no row", c.Workload.ID(i))
		}
	}
	if sum := result.Finished + result.Failed + result.TimedOut + result.Cancelled + result.Lost; sum != len(all) || result.Tasks != len(all) {
		t.Errorf("%d rows, and the result says %+v", len(all), result)
	}
	return all
}

func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b", "c")
		c := config(t, workload(t, 3000, time.Millisecond), schedulers)
		c.Data, c.Warmup, c.Info = fakeData{}, 10, generator.RunInfo{Policy: "dodoor", On: "local", Seed: 9}
		result := replay(t, t.Context(), c)
		if !result.Clean() || result.Tasks != 3000 || result.Stopped {
			t.Errorf("got %+v", result)
		}
		all := rows(t, c, result)
		for i := range 3000 {
			row := all[fmt.Sprintf("t%d", i)]
			if want := []string{"a", "b", "c"}[i%3]; row.Scheduler != want {
				t.Fatalf("task %d went to %s: round robin sends it to %s", i, row.Scheduler, want)
			}
			if row.Scheduled != time.Duration(i)*time.Millisecond || row.Sent != row.Scheduled || row.Received != row.Sent+time.Millisecond ||
				row.Warmup != (i < 10) || row.Completed != row.Received+100*time.Millisecond {
				t.Fatalf("row %+v", row)
			}
		}
		for _, s := range schedulers {
			if s.unread() > 0 {
				t.Errorf("scheduler %s still keeps %d results", s.name, s.unread())
			}
		}
		checkFiles(t, c.Dir)
	})
}

func checkFiles(t *testing.T, dir string) {
	t.Helper()
	s, err := results.Summarise(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Completed != 3000 || s.Messages.Submit != 3000 || s.ControlMessagesPerTask != 1 || s.GeneratorLagMs.Max != 0 ||
		s.Utilisation.Cores <= 0 || s.Seed != 9 || s.Policy != "dodoor" {
		t.Errorf("got %+v", s)
	}
	nodes, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(nodes)), "\n")
	if len(lines) != 4 || lines[1] != "1000,w-a,small,2.5,64,1,2" {
		t.Errorf("a sample per second of the node that reported: got %q", lines)
	}
	run, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || !strings.Contains(string(run), `"decisions_before": 40`) || !strings.Contains(string(run), `"slots": 8`) {
		t.Errorf("%v: %s", err, run)
	}
}

// One task per message over several connections, or what waits for a busy scheduler in one message.
func TestCoalescing(t *testing.T) {
	for _, coalesce := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			schedulers := fakes(t, "a")
			schedulers[0].latency = 10 * time.Millisecond
			c := config(t, workload(t, 1000, 100*time.Microsecond), schedulers)
			c.Coalesce, c.Connections, c.MaxBatch = coalesce, 2, 64
			if result := replay(t, t.Context(), c); !result.Clean() {
				t.Errorf("got %+v", result)
			}
			s := schedulers[0]
			largest := slices.Max(s.batches)
			if !coalesce && (largest != 1 || len(s.batches) != 1000) {
				t.Errorf("without coalescing: %d messages, up to %d tasks in one", len(s.batches), largest)
			}
			if coalesce && (largest < 30 || largest > 64 || len(s.batches) > 100) {
				t.Errorf("with coalescing: %d messages, up to %d tasks in one", len(s.batches), largest)
			}
			if s.maxInFlight != 2 {
				t.Errorf("%d submissions in flight over 2 connections", s.maxInFlight)
			}
		})
	}
}

// The generator's own queueing is visible: a slow scheduler makes it late, and the rows say so.
func TestLatenessIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		schedulers[0].latency = 10 * time.Millisecond
		c := config(t, workload(t, 100, time.Millisecond), schedulers)
		c.Connections = 1
		all := rows(t, c, replay(t, t.Context(), c))
		last := all["t99"]
		if late := last.Sent - last.Scheduled; late != 99*9*time.Millisecond {
			t.Errorf("the last task was sent %v late, want 891ms", late)
		}
	})
}

func TestRefusalsAreRowsWithReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[0].refuse = func(s cluster.TaskSpec) *cluster.Refusal {
			if s.ID != "t4" {
				return nil
			}
			return &cluster.Refusal{TaskID: s.ID, Code: cluster.NoFeasibleNode, Message: "8 cores, the largest node has 4"}
		}
		schedulers[1].held["t1"] = 1 // an earlier run's
		c := config(t, workload(t, 10, 0), schedulers)
		c.Coalesce, c.Connections = true, 1
		result := replay(t, t.Context(), c)
		all := rows(t, c, result)
		if result.Failed != 2 || result.Finished != 8 {
			t.Errorf("got %+v", result)
		}
		if r := all["t4"]; r.Outcome != cluster.Failed || r.Reason != "no feasible node: 8 cores, the largest node has 4" || r.Scheduler != "a" ||
			r.Sent == generator.Never || r.Received != generator.Never {
			t.Errorf("got %+v", r)
		}
		if r := all["t1"]; r.Outcome != cluster.Failed || !strings.HasPrefix(r.Reason, "duplicate task") {
			t.Errorf("got %+v", r)
		}
	})
}

// A message that fails as a whole because of one task fails that task alone.
func TestPoisonedBatchIsTakenApart(t *testing.T) {
	for name, poison := range map[string]error{
		"invalid":   cluster.Errorf(cluster.Invalid, "tasks[3].id is missing"),
		"too large": fmt.Errorf("submit: %w", rpc.ErrTooLarge),
		"panic":     fmt.Errorf("submit: %w: internal error", rpc.ErrRemote),
	} {
		synctest.Test(t, func(t *testing.T) {
			schedulers := fakes(t, "a")
			schedulers[0].fail = func(r cluster.SubmitRequest) error {
				if slices.ContainsFunc(r.Tasks, func(s cluster.TaskSpec) bool { return s.ID == "t5" }) {
					return poison
				}
				return nil
			}
			c := config(t, workload(t, 20, 0), schedulers)
			c.Coalesce, c.Connections = true, 1
			result := replay(t, t.Context(), c)
			if r := rows(t, c, result)["t5"]; result.Failed != 1 || r.Outcome != cluster.Failed || r.Reason != poison.Error() {
				t.Errorf("%s: %+v, %+v", name, result, r)
			}
		})
	}
}
