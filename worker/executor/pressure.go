package executor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// pressure is a running stress-ng that is held to its demand: CPU time ≤ cores × time since the
// start, at every moment. Setting memory up costs CPU time as well, and workers that run a part of
// their time catch up on what a busy machine kept from them; the balance makes the sum come out.
type pressure struct {
	group  *group
	usage  *usage
	cores  float64
	paused bool
}

// stopGrace is how long stress-ng may take to end by itself, after which it is killed: while it
// fills memory it does not listen.
const stopGrace = 250 * time.Millisecond

// hold keeps the pressure up from begin for the target duration and reports whether stress-ng ended
// before, or the context did.
func (p *pressure) hold(ctx context.Context, begin time.Time, target time.Duration) (early bool) {
	timer := time.NewTimer(target - time.Since(begin))
	defer timer.Stop()
	ticker := time.NewTicker(min(max(target/50, 5*time.Millisecond), 100*time.Millisecond))
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
			p.balance(time.Since(begin))
		}
	}
}

// balance pauses the CPU workers while the task is ahead of its demand.
func (p *pressure) balance(elapsed time.Duration) {
	ahead := p.usage.total() > time.Duration(p.cores*float64(elapsed))
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

// stop ends what is left and says how the task ended. Running up to the target is success, however
// stress-ng takes the end; ending by itself before is not.
func (p *pressure) stop(ctx context.Context, early bool, elapsed, target time.Duration) worker.Result {
	if early && ctx.Err() == nil {
		<-p.group.done
		exitCode, err := p.group.failure()
		if err == nil {
			err = errors.New("exit status 0")
		}
		return failed(exitCode, fmt.Errorf("stress-ng ended after %v of %v: %w", elapsed.Round(time.Millisecond), target, err))
	}
	p.usage.sample()
	if ctx.Err() != nil {
		p.kill()
		return interrupted(ctx)
	}
	p.group.signal(syscall.SIGCONT)
	p.group.signal(syscall.SIGALRM) // what stress-ng's own timer sends
	if !p.group.ended(stopGrace) {
		p.usage.sample()
		p.kill()
		return worker.Result{Outcome: cluster.Finished}
	}
	if exitCode, err := p.group.failure(); err != nil {
		return failed(exitCode, fmt.Errorf("stress-ng: %w", err))
	}
	return worker.Result{Outcome: cluster.Finished}
}

func (p *pressure) kill() {
	p.group.signal(syscall.SIGKILL)
	<-p.group.done
}
