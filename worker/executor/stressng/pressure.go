package stressng

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// pressure is a running stress-ng that is held to its demand. Setting memory up costs CPU time as
// well, and workers that run a part of their time catch up on what a busy machine kept from them; the
// balance makes the sum come out.
type pressure struct {
	group       *procgroup.Group
	output      *executor.Tail
	processes   *processes
	cores       float64
	target      time.Duration
	begin       time.Time
	paused      bool
	interrupted bool // by the context
}

// hold keeps the pressure up until the target, the end of stress-ng or of one of its stressors, or
// the end of the context.
func (p *pressure) hold(ctx context.Context) {
	timer := time.NewTimer(p.target - time.Since(p.begin))
	defer timer.Stop()
	ticker := time.NewTicker(min(max(p.target/50, 5*time.Millisecond), 100*time.Millisecond))
	defer ticker.Stop()
	for !p.processes.lost {
		select {
		case <-timer.C:
			return
		case <-p.group.Done():
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.processes.sample()
			p.balance(time.Since(p.begin))
		}
	}
}

// balance pauses the CPU workers while the task is ahead of its demand: more than a tenth of its time
// early on (starting up is a burst), less towards the end, so that it never uses more than
// cores × target in all.
func (p *pressure) balance(elapsed time.Duration) {
	due := min(elapsed+p.target/10, p.target)
	ahead := p.processes.CPU() >= time.Duration(p.cores*float64(due))
	signal := syscall.SIGCONT
	if ahead {
		signal = syscall.SIGSTOP
	}
	if ahead || p.paused {
		for _, pid := range p.processes.workers {
			p.group.SignalMember(pid, signal)
		}
	}
	p.paused = ahead
}

// stop ends what is left and says how the task ended. Running up to the target is success; an end
// before, even of one stressor (for want of memory, say), is a failure. The end is not left to
// stress-ng: while it starts up or fills memory it does not listen, and nothing is lost with it.
func (p *pressure) stop(ctx context.Context) worker.Result {
	after := fmt.Sprintf("after %v of %v", time.Since(p.begin).Round(time.Millisecond), p.target)
	ended := false
	select {
	case <-p.group.Done():
		ended = true
	default:
	}
	p.processes.sample()
	p.group.Kill()
	<-p.group.Done()
	switch {
	case ctx.Err() != nil:
		p.interrupted = true
		return executor.Interrupted(ctx)
	case ended:
		exitCode, err := p.group.Exit()
		return executor.Failed(exitCode, fmt.Errorf("stress-ng ended %s: %w", after, executor.WithOutput(err, p.output.String())))
	case p.processes.lost:
		return executor.Failed(executor.NoExitCode, fmt.Errorf("a stressor ended %s: %s", after, p.output.String()))
	}
	return worker.Result{Outcome: cluster.Finished}
}
