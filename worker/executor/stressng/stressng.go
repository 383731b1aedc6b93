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
	"dodoor/worker/executor/confine"
)

// Executor runs a stress-ng of its own for every task: as many CPU workers as the demand has cores
// (at a part of their time, where cores are a fraction), and one process that holds the demanded
// memory, for the estimated duration.
type Executor struct {
	executor.Base
	rule *confine.Rule
}

// New returns an executor whose tasks a rule holds to their demand, and which closes the rule.
func New(rule *confine.Rule) *Executor { return &Executor{rule: rule} }

const stressNG = "stress-ng"

// Check fails when stress-ng is not installed, or the limits that are required cannot be had.
func (e *Executor) Check() error {
	if _, err := exec.LookPath(stressNG); err != nil {
		return fmt.Errorf("executor stress-ng: %w; install it (Debian: apt-get install stress-ng)", err)
	}
	return e.rule.Check()
}

// Unlimited says why stress-ng could take more than its demand, but for its own balance.
func (e *Executor) Unlimited() error { return e.rule.Unlimited() }

// Swept returns how many control groups Check removed.
func (e *Executor) Swept() int { return e.rule.Swept() }

// Close removes this process's control groups. Nothing may run any more.
func (e *Executor) Close() error { return e.rule.Close() }

// Run keeps the pressure up for the estimated duration. The result's CPU is the time of the whole process tree; PeakMemory is the kernel's
// account in a control group; otherwise the most anonymous memory that its processes were seen to hold at one time.
func (e *Executor) Run(ctx context.Context, s worker.Start) worker.Result {
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
	held := s
	held.Shape.Demand[cluster.Memory] = heldTo(&s)
	group, err := e.rule.Group(&held)
	if err != nil {
		return executor.Lost(err)
	}
	defer e.rule.Release(group)
	begin := time.Now()
	output := &executor.Tail{}
	g, err := (&procgroup.Program{Path: path, Args: append(stressArgs(&s), s.Argv...), Dir: os.TempDir(),
		Env: append(e.rule.User.Env(), executor.DeviceEnv(&s, false)...), Cgroup: group, User: e.rule.User, Output: output}).Start()
	if err != nil {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("start stress-ng: %w", err))
	}
	p := &pressure{group: g, output: output, processes: follow(g.PID()), begin: begin, target: target,
		cores: float64(s.Shape.Demand[cluster.Cores]) / 1000}
	p.hold(ctx)
	result := p.stop(ctx)
	peak := p.processes.Peak()
	used := g.CPU()
	if group != nil {
		total, most := group.Account().Read()
		if used = max(used, total); most > 0 {
			peak = most
		}
		if !p.interrupted && group.OutOfMemory() { // a task that lost a part has not done its work, whatever became of the rest
			code, _ := g.Exit()
			result = executor.OutOfMemory(code, &s)
		}
	}
	result.CPU, result.PeakMemory = used, executor.MiB(peak)
	return result
}

const (
	// ownMemory is about what stress-ng itself takes, in MiB; the rest of a demand is held by its vm
	// stressor.
	ownMemory = 5
	// workerMemory is about what one of its CPU workers takes, in MiB. It is no part of what a task demands.
	workerMemory = 1
	// headroom lets workers that run a part of the time catch up on a busy machine; the balance keeps
	// them from using more than the demand.
	headroom = 1.1
)

// cpuWorkers is how many processes of stress-ng use the CPU for a demand.
func cpuWorkers(demand *cluster.Resources) int64 { return (demand[cluster.Cores] + 999) / 1000 }

// heldTo is the limit of memory for a task, in MiB.
func heldTo(s *worker.Start) int64 {
	return max(s.Shape.Demand[cluster.Memory], ownMemory) + workerMemory*cpuWorkers(&s.Shape.Demand)
}

// stressArgs are the options for a demand. The duration is not among them: stress-ng counts whole
// seconds. Its timeout is a safety net, should this process die.
func stressArgs(s *worker.Start) []string {
	args := []string{"--quiet", "--oomable", "--timeout", strconv.FormatInt(s.Given()/1000+30, 10)}
	millicores := s.Shape.Demand[cluster.Cores]
	if n := cpuWorkers(&s.Shape.Demand); n > 0 {
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
