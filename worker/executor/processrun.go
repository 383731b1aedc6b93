package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// execute runs a task whose program is allowed.
func (p *Process) execute(ctx context.Context, s *worker.Start) worker.Result {
	begin := time.Now()
	folder, err := makeWorkFolder(p.owner)
	if err != nil {
		return lost(fmt.Errorf("worker %s cannot make a folder for the task: %w", p.cfg.Worker, err))
	}
	defer removeWorkFolder(folder)
	mark := "TMPDIR=" + folder
	program := &program{path: s.Argv[0], args: s.Argv[1:], dir: folder, env: []string{mark, "HOME=" + folder}, mark: mark}
	if p.groups != nil {
		if program.room, err = p.groups.create(s.TaskID, limitsOf(s)); err != nil {
			return lost(fmt.Errorf("worker %s cannot limit the task: %w", p.cfg.Worker, err))
		}
		defer program.room.remove() // what stays is for Close
	}
	g, err := program.start()
	if err != nil {
		return notRun(g, err)
	}
	x := &run{group: g, task: s, startup: time.Since(begin)}
	x.await(ctx)
	return x.result(ctx)
}

// limitsOf is what a task may take: its demand, and no less than anything needs.
func limitsOf(s *worker.Start) limits {
	return limits{millicores: max(s.Shape.Demand[cluster.Cores], leastMillicores), memory: memoryLimit(s) << 20}
}

func lost(err error) worker.Result {
	return worker.Result{Outcome: cluster.Lost, ExitCode: noExitCode, Reason: err.Error()}
}

// scarce are the errors of a machine that cannot start another process now, whichever.
var scarce = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// notRun is the result of a task whose program did not start, or had begun and was ended at once.
func notRun(g *group, err error) worker.Result {
	var fork *fs.PathError
	ofProgram := errors.As(err, &fork) && fork.Op == "fork/exec" &&
		!slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(fork, e) })
	err = fmt.Errorf("start the program: %w", err)
	if g != nil || ofProgram {
		return failed(noExitCode, err)
	}
	return lost(err)
}

// run is a task whose program has started.
type run struct {
	group   *group
	task    *worker.Start
	startup time.Duration
	peak    int64 // bytes that were seen; a control group knows better
	cut     bool  // the context ended it
}

// memoryEvery is how often to look at memory that nobody else keeps an account of.
const memoryEvery = 50 * time.Millisecond

// await stays until nothing of the task is left, and sees to that at the end of ctx.
func (x *run) await(ctx context.Context) {
	seen := newUsage(x.group.pid)
	var tick <-chan time.Time
	if room := x.group.room; room == nil || !room.account().readable() {
		ticker := time.NewTicker(memoryEvery)
		defer ticker.Stop()
		tick = ticker.C
		seen.sample()
	}
	for {
		select {
		case <-x.group.done:
			x.peak = seen.peak
			return
		case <-tick:
			seen.sample()
		case <-ctx.Done():
			x.cut = true
			x.end()
			<-x.group.done
			x.peak = seen.peak
			return
		}
	}
}

// end kills the task.
func (x *run) end() {
	x.group.signal(syscall.SIGKILL)
	if x.group.room != nil {
		x.group.room.kill()
	}
}

// result is how the task ended.
func (x *run) result(ctx context.Context) worker.Result {
	cpu, oom := x.group.cpu, false
	if room := x.group.room; room != nil {
		total, peak := room.account().read()
		cpu, x.peak = max(cpu, total), max(x.peak, peak)
		oom = room.outOfMemory()
	}
	var r worker.Result
	code, err := x.group.failure()
	switch {
	case x.cut:
		r = interrupted(ctx)
	case code == 0:
		r = worker.Result{Outcome: cluster.Finished}
	case oom:
		r = failed(code, errors.New(outOfMemory(x.task)))
		r.OutOfMemory = true
	default:
		r = failed(code, err)
	}
	r.CPU, r.PeakMemory = cpu, (x.peak+1<<20-1)>>20
	r.Startup, r.Output = x.startup, x.group.output.String()
	return r
}
