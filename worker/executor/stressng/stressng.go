// Package stressng runs a stress-ng for each task, which makes CPU and memory pressure that matches the demand.
// It runs on Linux.
package stressng

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// Executor runs a stress-ng of its own for every task: as many CPU workers as the demand has cores
// (at a part of their time, where cores are a fraction), and one process that holds the demanded
// memory, for the estimated duration.
type Executor struct{ executor.Base }

const stressNG = "stress-ng"

// Check fails when stress-ng is not installed.
func (Executor) Check() error {
	if _, err := exec.LookPath(stressNG); err != nil {
		return fmt.Errorf("executor stress-ng: %w; install it (Debian: apt-get install stress-ng)", err)
	}
	return nil
}

// Run keeps the pressure up for the estimated duration. The result's CPU is the time of the whole process tree; PeakMemory is the most
// anonymous memory that its processes were seen to hold at one time.
func (Executor) Run(ctx context.Context, s worker.Start) worker.Result {
	if err := ctx.Err(); err != nil {
		return executor.Interrupted(ctx)
	}
	target := given(&s)
	if target == 0 {
		return worker.Result{Outcome: cluster.Finished}
	}
	path, err := exec.LookPath(stressNG)
	if err != nil {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("start stress-ng: %w", err))
	}
	begin := time.Now()
	output := &executor.Tail{}
	g, err := (&procgroup.Program{Path: path, Args: append(stressArgs(&s), s.Argv...), Dir: os.TempDir(), Output: output}).Start()
	if err != nil {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("start stress-ng: %w", err))
	}
	p := &pressure{group: g, output: output, processes: follow(g.PID()), begin: begin, target: target,
		cores: float64(s.Shape.Demand[cluster.Cores]) / 1000}
	p.hold(ctx)
	result := p.stop(ctx)
	result.CPU = g.CPU()
	result.PeakMemory = executor.MiB(p.processes.Peak())
	return result
}

const (
	// ownMemory is about what stress-ng itself takes, in MiB; the rest of a demand is held by its vm
	// stressor.
	ownMemory = 5
	// headroom lets workers that run a part of the time catch up on a busy machine; the balance keeps
	// them from using more than the demand.
	headroom = 1.1
)

// stressArgs are the options for a demand. The duration is not among them: stress-ng counts whole
// seconds. Its timeout is a safety net, should this process die.
func stressArgs(s *worker.Start) []string {
	args := []string{"--quiet", "--oomable", "--timeout", strconv.FormatInt(s.Given()/1000+30, 10)}
	millicores := s.Shape.Demand[cluster.Cores]
	if n := (millicores + 999) / 1000; n > 0 {
		args = append(args, "--cpu", strconv.FormatInt(n, 10), "--cpu-method", "int64")
		if load := float64(millicores) / float64(10*n); load < 100 {
			percent := min(100, int(load*headroom+1))
			args = append(args, "--cpu-load", strconv.Itoa(percent), "--cpu-load-slice", "5")
		}
	}
	memory := s.Shape.Demand[cluster.Memory] - ownMemory
	if memory > 0 || millicores == 0 {
		// Write every page once, in huge pages where there are any, then sleep on them: the cheapest
		// way to hold memory.
		args = append(args, "--vm", "1", "--vm-bytes", strconv.FormatInt(max(memory, 1), 10)+"m",
			"--vm-method", "write64", "--vm-hang", "0", "--vm-madvise", "hugepage")
	}
	return args
}

// given is the duration of a task in trace time.
func given(s *worker.Start) time.Duration {
	return time.Duration(s.Given()) * time.Millisecond
}
