package stressng

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/internal/procfs"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/confine"
	"dodoor/worker/executor/executortest"
)

func TestArgumentsMatchTheDemand(t *testing.T) {
	for _, c := range []struct {
		cores  float64
		memory int64
		want   string
	}{
		{2, 0, "--cpu 2 --cpu-method int64"},
		{2.5, 0, "--cpu 3 --cpu-method int64 --cpu-load 92 --cpu-load-slice 5"},
		{0.5, 0, "--cpu 1 --cpu-method int64 --cpu-load 56 --cpu-load-slice 5"},
		{0.999, 0, "--cpu 1 --cpu-method int64 --cpu-load 100 --cpu-load-slice 5"},
		{1, 512, "--cpu 1 --cpu-method int64 --vm 1 --vm-bytes 507m --vm-method write64 --vm-hang 0 --vm-madvise hugepage"},
		{1, 5, "--cpu 1 --cpu-method int64"}, // stress-ng itself takes that much
		{0, 100, "--vm 1 --vm-bytes 95m --vm-method write64 --vm-hang 0 --vm-madvise hugepage"},
		{0, 0, "--vm 1 --vm-bytes 1m --vm-method write64 --vm-hang 0 --vm-madvise hugepage"},
	} {
		s := executortest.Start(c.cores, c.memory, 2500)
		if got := strings.Join(stressArgs(&s), " "); got != "--quiet --oomable --timeout 32 "+c.want {
			t.Errorf("%v cores, %d MiB: %s", c.cores, c.memory, got)
		}
	}
}

func TestMissingStressNG(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := stress(t, confine.Off).Check(); err == nil || !strings.Contains(err.Error(), "apt-get install stress-ng") {
		t.Errorf("Check: %v", err)
	}
	r := stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 1, 1000))
	if r.Outcome != cluster.Failed || r.ExitCode != -1 || !strings.Contains(r.Reason, "not found") {
		t.Errorf("Run: %+v", r)
	}
}

func TestUnstartableStressNG(t *testing.T) {
	imitate(t, "")
	path := t.TempDir() // a directory is no program
	if _, err := (&procgroup.Program{Path: path}).Start(); err == nil {
		t.Error("a directory was started")
	}
}

// A stress-ng with something that uses devices finds those of its task.
func TestDevicesOfStressNG(t *testing.T) {
	imitate(t, `echo "gpu $DODOOR_GPU $CUDA_VISIBLE_DEVICES"; exit 9`)
	s := executortest.Start(1, 1, 60_000)
	s.Devices = []worker.Assigned{{Dimension: 3, Extra: "gpu", Devices: worker.Devices{IDs: []string{"3"}, Variable: "CUDA_VISIBLE_DEVICES"}}}
	if r := stress(t, confine.Off).Run(t.Context(), s); !strings.Contains(r.Reason, "gpu 3 3") {
		t.Errorf("%+v", r)
	}
}

func TestNothingToDo(t *testing.T) {
	imitate(t, "exit 9")
	if r := stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 1, 0)); r.Outcome != cluster.Finished {
		t.Errorf("no duration: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := stress(t, confine.Off).Run(ctx, executortest.Start(1, 1, 1000)); r.Outcome != cluster.Cancelled {
		t.Errorf("cancelled before the start: %+v", r)
	}
}

// Before the target every end is a failure; at the target stress-ng is killed, however it takes that.
func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		name, script string
		duration     int64
		outcome      cluster.Outcome
		exitCode     int
		reason       string
	}{
		{"fails at once", "echo 'no memory' >&2; exit 3", 60_000, cluster.Failed, 3, "no memory"},
		{"ends early", "exit 0", 60_000, cluster.Failed, 0, "exit status 0"},
		{"is killed", "kill -KILL $$", 60_000, cluster.Failed, 137, "signal 9"},
		{"runs to the target", "exec sleep 1000", 100, cluster.Finished, 0, ""},
		{"ignores signals", "trap '' ALRM TERM INT; while :; do sleep 0.01; done", 100, cluster.Finished, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			imitate(t, c.script)
			r := stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 1, c.duration))
			if r.Outcome != c.outcome || r.ExitCode != c.exitCode || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// stress-ng goes on when one of its stressors is gone (for want of memory, say); the task does not.
func TestALostStressorFailsTheTask(t *testing.T) {
	needStressNG(t)
	results := make(chan worker.Result)
	go func() { results <- stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 20, 600_000)) }()
	executortest.Eventually(t, "a CPU worker is killed", func() bool {
		for _, pid := range executortest.Descendants() {
			if cpu, err := procfs.CPUTime(pid); err == nil && cpu > 300*time.Millisecond && procfs.Name(pid) == workerName {
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
	if r := <-results; r.Outcome != cluster.Failed || !strings.Contains(r.Reason, "stressor ended") {
		t.Errorf("%+v", r)
	}
}

// A worker that would use a whole core is paused and resumed so that it uses a fifth of one.
func TestTheBalanceHoldsWorkersToTheDemand(t *testing.T) {
	imitate(t, "d=${0%/*}; cp /bin/sh $d/stress-ng-cpu; $d/stress-ng-cpu -c 'while :; do :; done' & wait")
	r := stress(t, confine.Off).Run(t.Context(), executortest.Start(0.2, 1, 2000))
	if r.Outcome != cluster.Finished || r.CPU < 100*time.Millisecond || r.CPU > 800*time.Millisecond {
		t.Errorf("0.2 cores for 2 s: %+v", r)
	}
}

func TestOnlyTheEndOfTheOutputIsKept(t *testing.T) {
	imitate(t, "i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; printf '\\377 the end' >&2; exit 1")
	r := stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 1, 60_000))
	if len(r.Reason) > executor.TailBytes+200 || !strings.HasSuffix(r.Reason, "? the end") {
		t.Errorf("%d bytes: %q", len(r.Reason), r.Reason)
	}
}

func TestTypesAddOptions(t *testing.T) {
	imitate(t, `echo "$@" >&2; exit 1`)
	s := executortest.Start(1, 1, 60_000)
	s.Argv = []string{"--cpu-method", "matrixprod; echo $HOME"}
	r := stress(t, confine.Off).Run(t.Context(), s)
	if !strings.HasSuffix(r.Reason, "--cpu-method matrixprod; echo $HOME") {
		t.Errorf("no shell may see this: %q", r.Reason)
	}
}

// The real thing: the CPU time of the process tree is cores × duration within 15 %. What the machine
// withholds is not the executor's doing, so the time for which workers waited for a CPU counts as
// used below, and the time that passed in fact counts above.
func TestCPUTimeMatchesTheDemand(t *testing.T) {
	for _, mode := range []string{confine.Off, confine.Required} {
		t.Run(mode, func(t *testing.T) { cpuTimeMatches(t, mode) })
	}
}

func cpuTimeMatches(t *testing.T, mode string) {
	needStressNG(t)
	for _, c := range []worker.Start{executortest.Start(0.5, 64, 2000), executortest.Start(1, 64, 1000), executortest.Start(1.5, 16, 700)} {
		watched := watch(t)
		begin := time.Now()
		r := stress(t, mode).Run(t.Context(), c)
		elapsed := time.Since(begin)
		waited := watched()
		cores := float64(c.Shape.Demand[cluster.Cores]) / 1000
		least, most := 0.85*cores*float64(given(&c)), 1.15*cores*float64(max(elapsed, given(&c)))
		t.Logf("%v cores for %d ms: used %v, waited %v, %d MiB", cores, c.Shape.Duration, r.CPU, waited, r.PeakMemory)
		if r.Outcome != cluster.Finished || float64(r.CPU+waited) < least || float64(r.CPU) > most {
			t.Errorf("%v cores for %d ms: %+v, waited %v for a CPU", cores, c.Shape.Duration, r, waited)
		}
	}
}

func TestMemoryMatchesTheDemand(t *testing.T) {
	for _, mode := range []string{confine.Off, confine.Required} {
		t.Run(mode, func(t *testing.T) { memoryMatches(t, mode) })
	}
}

func memoryMatches(t *testing.T, mode string) {
	needStressNG(t)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan worker.Result)
	e := stress(t, mode)
	go func() { results <- e.Run(ctx, executortest.Start(1, 200, 60_000)) }()
	executortest.Eventually(t, "memory is held", func() bool {
		held := int64(0)
		for _, pid := range executortest.Descendants() {
			held += procfs.Anonymous(pid)
		}
		return held > 180<<20
	})
	cancel()
	if r := <-results; r.PeakMemory < 180 || r.PeakMemory > 220 {
		t.Errorf("200 MiB: %+v", r)
	}
}

// Memory that takes long to fill costs CPU time and does not listen; the task ends all the same.
func TestMoreMemoryThanTime(t *testing.T) {
	needStressNG(t)
	r := stress(t, confine.Off).Run(t.Context(), executortest.Start(1, 4096, 100))
	if r.Outcome != cluster.Finished || r.CPU == 0 {
		t.Errorf("%+v", r)
	}
}

func TestCancelLeavesNobody(t *testing.T) {
	needStressNG(t)
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": context.WithCancel,
		"timed-out": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 300*time.Millisecond)
		},
	} {
		ctx, cancel := end(t.Context())
		results := make(chan worker.Result)
		go func() { results <- stress(t, confine.Off).Run(ctx, executortest.Start(2, 100, 3_600_000)) }()
		var pids []int
		executortest.Eventually(t, "stress-ng has started its workers", func() bool {
			pids = executortest.Descendants()
			return len(pids) >= 4 || ctx.Err() != nil
		})
		if name == "cancelled" {
			cancel()
		}
		r := <-results
		cancel()
		if r.Outcome.String() != name {
			t.Errorf("%s: %+v", name, r)
		}
		if left := slices.DeleteFunc(pids, func(pid int) bool { return !executortest.Alive(pid) }); len(left) > 0 {
			t.Errorf("%s: %v are still alive", name, left)
		}
	}
}

// What stress-ng takes for its many workers is not the demand's.
func TestManyWorkersHaveMemory(t *testing.T) {
	e := stress(t, confine.Required)
	needs.Real(t, e.Check())
	executortest.Finished(t, e.Run(t.Context(), executortest.Start(14, 6, 1500)))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// A task that the kernel took a part of has failed, though the rest of it runs to the end.
func TestALostPartIsOutOfMemory(t *testing.T) {
	e := stress(t, confine.Required)
	imitate(t, "/bin/dd if=/dev/zero of=/dev/null bs=200M count=1; exec /bin/sleep 1000")
	if r := e.Run(t.Context(), executortest.Start(1, 8, 2000)); r.Outcome != cluster.Failed || !r.OutOfMemory {
		t.Errorf("%+v", r)
	}
}
