package executor

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// pressure is a running stress-ng that is held to its demand. Setting memory up costs CPU time as
// well, and workers that run a part of their time catch up on what a busy machine kept from them; the
// balance makes the sum come out.
type pressure struct {
	group  *group
	usage  *usage
	cores  float64
	target time.Duration
	begin  time.Time
	paused bool
}

// hold keeps the pressure up for the target duration and reports whether stress-ng ended before, or
// the context did.
func (p *pressure) hold(ctx context.Context) (early bool) {
	timer := time.NewTimer(p.target - time.Since(p.begin))
	defer timer.Stop()
	ticker := time.NewTicker(min(max(p.target/50, 5*time.Millisecond), 100*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-timer.C:
			return false
		case <-p.group.done:
			return true
		case <-ctx.Done():
			return true
		case <-ticker.C:
			p.usage.sample()
			p.balance(time.Since(p.begin))
		}
	}
}

// balance pauses the CPU workers while the task is ahead of its demand: more than a tenth of its time
// early on (starting up is a burst), less towards the end, so that it never uses more than
// cores × target in all.
func (p *pressure) balance(elapsed time.Duration) {
	due := min(elapsed+p.target/10, p.target)
	ahead := p.usage.total() >= time.Duration(p.cores*float64(due))
	signal := syscall.SIGCONT
	if ahead {
		signal = syscall.SIGSTOP
	}
	if ahead || p.paused {
		for _, pid := range p.usage.workers {
			p.group.signalMember(pid, signal)
		}
	}
	p.paused = ahead
}

// stop ends what is left and says how the task ended. Running up to the target is success, unless a
// stressor gave up on the way (no memory, say); ending before is not. The end is not left to stress-ng:
// while it starts up or fills memory it does not listen, and nothing is lost with it.
func (p *pressure) stop(ctx context.Context, early bool) worker.Result {
	elapsed := time.Since(p.begin)
	if early && ctx.Err() == nil {
		<-p.group.done
		exitCode, err := p.group.failure()
		return failed(exitCode, fmt.Errorf("stress-ng ended after %v of %v: %w", elapsed.Round(time.Millisecond), p.target, err))
	}
	p.usage.sample()
	p.group.signal(syscall.SIGKILL)
	<-p.group.done
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case p.usage.lost:
		return failed(noExitCode, fmt.Errorf("a stressor ended before %v: %s", p.target, p.group.output.String()))
	}
	return worker.Result{Outcome: cluster.Finished}
}
