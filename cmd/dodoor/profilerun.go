package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/profile"
	"dodoor/worker"
	"dodoor/worker/workerd"
)

// measure runs every job, one run at a time, and keeps what was measured whatever ends it. Its exit code
// is for the error.
func (p *profiling) measure(ctx context.Context) (int, error) {
	executors, err := p.executors()
	if err != nil {
		return exitUsage, err
	}
	runs := p.runAll(ctx, executors)
	if err := workerd.CloseExecutors(executors); err != nil {
		p.log.Warn("ends all the same", "error", err)
	}
	if ctx.Err() != nil {
		return exitFailed, fmt.Errorf("stopped by a signal after %d of at most %d runs", runs, p.most())
	}
	var failures []error
	for i := range p.jobs {
		failures = append(failures, p.jobs[i].err)
	}
	switch err := errors.Join(failures...); {
	case err == nil:
		return exitDone, nil
	case p.keepGoing:
		p.log.Warn("left out what failed", "failures", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitDone, nil
	default:
		return exitFailed, fmt.Errorf("%w (-keep-going leaves it out and measures the rest)", err)
	}
}

// executors makes each executor once. What they leave outside this process is told from that of workers.
func (p *profiling) executors() (map[string]workerd.Executor, error) {
	own := *p.c
	own.Worker.Name = "profile-" + p.class.Name
	executors := map[string]workerd.Executor{}
	for i := range p.jobs {
		name := p.jobs[i].executor
		if executors[name] != nil {
			continue
		}
		e, err := readyExecutor(name, &own, p.log)
		if err != nil {
			return nil, errors.Join(err, workerd.CloseExecutors(executors))
		}
		executors[name] = e
	}
	return executors, nil
}

// runAll returns how many runs there were.
func (p *profiling) runAll(ctx context.Context, executors map[string]workerd.Executor) (runs int) {
	begin, done := time.Now(), 0
	bar := drive.NewProgress(p.progress, p.most())
	defer bar.Finish()
	for i := range p.jobs {
		j := &p.jobs[i]
		machine, used, own := startLoad(), time.Duration(0), 0
		j.err = j.run(p.n, p.warmup, func(limit conf.Shape) (profile.Run, error) {
			bar.Show(done+own, time.Since(begin), func(float64) string { return j.String() })
			own++
			run, err := p.runOnce(ctx, executors[j.executor], j, limit, own)
			if ctx.Err() == nil {
				runs++
			}
			used += run.CPU
			return run, err
		})
		done += p.mostOf(j)
		switch {
		case ctx.Err() != nil, j.err != nil && !p.keepGoing:
			return runs
		case j.err == nil:
			j.others = machine.others(used)
			p.tell(j)
		}
	}
	return runs
}

// most is how many runs there can be.
func (p *profiling) most() (runs int) {
	for i := range p.jobs {
		runs += p.mostOf(&p.jobs[i])
	}
	return runs
}

func (p *profiling) mostOf(j *profileJob) int {
	if j.told {
		return p.n
	}
	return 2*p.n - p.warmup
}

// tell says what came of a job, and whether it can be trusted.
func (p *profiling) tell(j *profileJob) {
	if p.progress != nil {
		p.log.Info("measured", "type", j.typ.Name, "mode", j.mode.Name, "figures", j.summary())
	}
	if cpus := runtime.NumCPU(); crowded(cpus, j.others, j.shape.Cores) {
		p.log.Warn("others used the machine: figures are too long, and cores too few", "type", j.typ.Name, "mode", j.mode.Name,
			"busy_cores_of_others", fmt.Sprintf("%.1f", j.others), "cores", cpus)
	}
}

// runOnce runs a job for the k-th time, as a worker would.
func (p *profiling) runOnce(ctx context.Context, e workerd.Executor, j *profileJob, limit conf.Shape, k int) (profile.Run, error) {
	id := fmt.Sprintf("profile-%s-%s-%d", j.typ.Name, j.mode.Name, k)
	s := worker.Start{
		TaskID: id, Type: j.typ.Name, Mode: j.mode.Name, Executor: j.executor, Image: j.typ.Image,
		Argv: append(j.typ.Argv[:len(j.typ.Argv):len(j.typ.Argv)], j.mode.Argv...), TimeScale: 1, Seed: cluster.HashID(id),
		Shape: cluster.Shape{
			Demand:   cluster.Resources{cluster.Cores: int64(millicoresOf(limit.Cores)), cluster.Memory: limit.MemoryMB},
			Duration: time.Duration(limit.Duration).Milliseconds(),
		},
	}
	begin := time.Now()
	r := e.Run(ctx, s)
	run := profile.Run{Total: time.Since(begin), Startup: r.Startup, CPU: r.CPU, PeakMemory: r.PeakMemory}
	switch {
	case r.Outcome == cluster.Finished:
		return run, nil
	case r.OutOfMemory && limit.MemoryMB == j.shape.MemoryMB:
		return run, fmt.Errorf("out of memory: %s (here: -memory)", r.Reason)
	}
	return run, fmt.Errorf("%v, exit code %d: %s", r.Outcome, r.ExitCode, r.Reason)
}
