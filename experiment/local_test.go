package experiment

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/rpc/rpctest"
	"dodoor/report/reporttest"
)

// Sec. 6: control messages per task are 1 + 1/b_Δ + S/b, exactly, over whole batches; every service is
// real, and the idle cluster's accounts return to zero (Run fails otherwise).
func TestPaperMessageBudget(t *testing.T) {
	for profile, want := range map[string]float64{"paper": 1.175, "paper-as-run": 1.35} {
		c := configOf(t, profile, "generator.trace=functionbench", "generator.n=400", "generator.warmup=100", "generator.qps=20")
		r, err := inMemory(t, setting(t, c, OnLocal), Run)
		if err != nil {
			t.Fatalf("%s: %v", profile, err)
		}
		s := r.Summary
		if s.Completed != 400 || s.Tasks != 400 {
			t.Errorf("%s: %d of %d completed", profile, s.Completed, s.Tasks)
		}
		if s.ControlMessagesPerTask != want || s.Messages.Submit != 400 {
			t.Errorf("%s: %v control messages per task (%+v), want %v", profile, s.ControlMessagesPerTask, s.Messages, want)
		}
		if s.Messages.Enqueue != 400 || s.Messages.Probe != 0 {
			t.Errorf("%s: messages %+v: one enqueue per task and no probes", profile, s.Messages)
		}
	}
}

// Coalescing puts what waits for a busy peer into one message; nothing else changes.
func TestCoalescing(t *testing.T) {
	c := configOf(t, "local", "generator.n=1000", "generator.qps=2000", "generator.connections=1")
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		network.Pass = func(m rpctest.Message) bool { // a request takes as long as several arrivals
			if m.From == "generator" && !m.Reply {
				<-time.After(10 * time.Millisecond)
			}
			return true
		}
		s := setting(t, c, OnLocal)
		s.Network = network
		r, err := Run(t.Context(), s)
		network.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if r.Summary.Completed != 1000 {
			t.Errorf("%d of %d completed", r.Summary.Completed, r.Summary.Tasks)
		}
		if m := r.Summary.Messages; m.Submit > 500 || m.Enqueue > 1000 {
			t.Errorf("messages %+v of 1000 tasks, four of which arrive at each scheduler while a message is under way", m)
		}
	})
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
	s := setting(t, configOf(t, config, "generator.trace="+strconv.Quote(write(t, "t.csv", b.String())), "generator.n=30",
		"generator.warmup=0", "generator.qps=1000"), OnLocal)
	if _, err := inMemory(t, s, Run); err != nil {
		t.Fatal(err)
	}
	type span struct{ from, to time.Duration }
	busy := map[string][]span{}
	for _, r := range reporttest.Rows(t, s.Dir) {
		if id, _ := strconv.Atoi(r.TaskID); id%2 == 0 {
			continue
		}
		if r.Class != "accelerated" {
			t.Errorf("task %s needs a gpu and ran on class %s", r.TaskID, r.Class)
		}
		for _, other := range busy[r.Worker] {
			if overlap := min(r.Finished, other.to) - max(r.Started, other.from); overlap > time.Microsecond { // as exact as the wire
				t.Errorf("two tasks held the one gpu of %s together for %v", r.Worker, overlap)
			}
		}
		busy[r.Worker] = append(busy[r.Worker], span{r.Started, r.Finished})
	}
	if len(busy) != 2 {
		t.Errorf("gpu tasks ran on %d workers, want both", len(busy))
	}
}

// A task that fits nowhere is refused with the dimension and the largest capacity; the others run, and
// the run fails. CRLF line ends are fine.
func TestMillionCoreTask(t *testing.T) {
	trace := write(t, "t.csv", "0,1,10,0,5,0,simulated,short\r\n1,1000000,10,0,5,1,simulated,short\r\n2,1,10,0,5,2,simulated,short\r\n")
	s := setting(t, configOf(t, "local", "generator.trace="+strconv.Quote(trace), "generator.n=3", "generator.warmup=0", "generator.qps=100"),
		OnLocal)
	r, err := inMemory(t, s, Run)
	if err == nil || Refused(err) || !strings.Contains(err.Error(), "1 of 3 tasks did not finish: 1 failed") || r.Summary.Completed != 2 {
		t.Errorf("%v, %+v", err, r.Summary)
	}
	for _, r := range reporttest.Rows(t, s.Dir) {
		if r.TaskID == "1" && (!strings.Contains(r.Reason, "cores") || !strings.Contains(r.Reason, "28 cores")) {
			t.Errorf("reason %q: want the dimension and the largest capacity", r.Reason)
		}
	}
}

// The generator alone, on a cluster that runs: it finds the schedulers through the data service, and its tasks have
// ids that no earlier run had.
func TestOnARunningCluster(t *testing.T) {
	c := configOf(t, "local", "class.m510.count=2", "class.xl170.count=0", "class.c6525-25g.count=0", "class.c6620.count=0",
		"generator.schedulers=[]", "generator.trace=azure", "generator.n=20", "generator.warmup=0", "generator.qps=100")
	running := setting(t, c, OnCluster)
	r, err := inMemory(t, running, func(ctx context.Context, s Setting) (Result, error) {
		if _, err := Run(ctx, s); err == nil || Refused(err) || !strings.Contains(err.Error(), "data service at ") {
			t.Errorf("nobody there: %v", err)
		}
		return onACluster(t, ctx, s, Run)
	})
	if err != nil || r.Summary.Completed != 20 || r.Summary.On != OnCluster {
		t.Fatalf("%+v, %v", r.Summary, err)
	}
	for _, row := range reporttest.Rows(t, running.Dir) {
		if !strings.HasPrefix(row.TaskID, "r") || !strings.HasPrefix(row.Scheduler, "scheduler-") {
			t.Errorf("task %s at scheduler %s", row.TaskID, row.Scheduler)
		}
	}
}
