package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
	"dodoor/internal/procfs"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// execute runs a task whose program is allowed.
func (p *Executor) execute(ctx context.Context, s *worker.Start) worker.Result {
	begin := time.Now()
	own, err := p.rulesOf(s.User)
	if errors.Is(err, procgroup.ErrUnanswered) {
		return p.notPrepared(lacking{err})
	}
	if err != nil {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("worker %s: %w", p.cfg.Worker, err))
	}
	dir, err := own.workFolder()
	if err != nil {
		return executor.Lost(fmt.Errorf("worker %s cannot make a folder for the task: %w", p.cfg.Worker, err))
	}
	defer removeWorkFolder(dir.Name())
	defer dir.Close()
	output := executor.NewCapture(p.cfg.Spool, s)
	defer output.End()
	program, err := own.program(s, dir, output)
	if err != nil {
		return p.notPrepared(err)
	}
	if program.Input != nil {
		defer program.Input.Close()
	}
	if err := own.user.Give(dir); err != nil { // last: nothing is done in there any more
		return p.notPrepared(lacking{err})
	}
	if program.Cgroup, err = p.rule.Group(s); err != nil {
		return executor.Lost(err)
	}
	defer p.rule.Release(program.Cgroup)
	g, err := program.Start()
	if err != nil {
		return notRun(g, err)
	}
	x := &run{group: g, cgroup: program.Cgroup, output: output, task: s, startup: time.Since(begin)}
	x.await(ctx)
	if g.Vanished() {
		p.spares.keep(dir, own.user, p.rule.Owner)
	}
	return x.result(ctx)
}

// scarce are the errors of a machine that cannot start another process now, whichever.
var scarce = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// notRun is the result of a task whose program did not start, or had begun and was ended at once.
func notRun(g *procgroup.Group, err error) worker.Result {
	var fork *fs.PathError
	ofProgram := errors.As(err, &fork) && fork.Op == "fork/exec" &&
		!slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(fork, e) })
	err = fmt.Errorf("start the program: %w", err)
	if errors.Is(err, syscall.E2BIG) {
		err = fmt.Errorf("%w: arguments and environment together are more than the kernel takes: use standard input or a file", err)
	}
	if g != nil || ofProgram {
		return executor.Failed(executor.NoExitCode, err)
	}
	return executor.Lost(err)
}

// run is a task whose program has started.
type run struct {
	group       *procgroup.Group
	cgroup      *cgroup.Group // nil: there are no limits
	output      *executor.Capture
	task        *worker.Start
	startup     time.Duration
	peak        int64 // bytes that were seen; a control group knows better
	interrupted bool  // the context ended it
}

// memoryEvery is how often to look at memory that nobody else keeps an account of. The kernel's own figure, of the largest
// process, has to do for what is over sooner.
const memoryEvery = 50 * time.Millisecond

// await stays until nothing of the task is left, and sees to that at the end of ctx.
func (x *run) await(ctx context.Context) {
	seen := procfs.NewUsage(x.group.PID())
	ticker := time.NewTicker(memoryEvery)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-x.group.Done():
			ended = true
		case <-ticker.C:
			if x.cgroup != nil && x.cgroup.Account().Readable() {
				ticker.Stop()
			} else {
				seen.Sample()
			}
		case <-ctx.Done():
			x.interrupted = true
			x.group.Kill()
			<-x.group.Done()
			ended = true
		}
	}
	x.peak = max(seen.Peak(), x.group.Peak())
}

// result is how the task ended.
func (x *run) result(ctx context.Context) worker.Result {
	cpu := x.group.CPU()
	if x.cgroup != nil {
		total, peak := x.cgroup.Account().Read()
		if cpu = max(cpu, total); peak > 0 {
			x.peak = peak
		}
	}
	var r worker.Result
	code, err := x.group.Exit()
	switch {
	case x.interrupted:
		r = executor.Interrupted(ctx)
	case x.cgroup != nil && x.cgroup.OutOfMemory(): // a task that lost a part has not done its work, whatever its exit code says
		r = executor.OutOfMemory(code, x.task)
	case code == 0:
		r = worker.Result{Outcome: cluster.Finished}
	case x.cgroup != nil && x.cgroup.OutOfProcesses():
		err = fmt.Errorf("%w, and it was refused processes beyond process.pids_limit", err)
		r = executor.Failed(code, executor.WithOutput(err, x.output.Tail()))
	default:
		r = executor.Failed(code, executor.WithOutput(err, x.output.Tail()))
	}
	r.CPU, r.PeakMemory = cpu, executor.MiB(x.peak)
	r.Startup, r.Output, r.Printed = x.startup, x.output.Tail(), x.output.Printed()
	return r
}
