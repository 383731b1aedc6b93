package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

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
	if err := closeExecutors(executors); err != nil {
		p.log.Warn("executor did not close", "error", err)
	}
	if ctx.Err() != nil {
		return exitFailed, fmt.Errorf("stopped by a signal after %d of %d runs", runs, p.n*len(p.jobs))
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
			return nil, errors.Join(err, closeExecutors(executors))
		}
		executors[name] = e
	}
	return executors, nil
}

// runAll returns how many runs there were.
func (p *profiling) runAll(ctx context.Context, executors map[string]workerd.Executor) (runs int) {
	begin := time.Now()
	bar := drive.NewProgress(p.progress, p.n*len(p.jobs))
	defer bar.Finish()
	for i := range p.jobs {
		j := &p.jobs[i]
		machine, used := startLoad(), time.Duration(0)
		for k := range p.n {
			bar.Show(i*p.n+k, time.Since(begin), func(float64) string { return j.String() })
			run, err := p.runOnce(ctx, executors[j.executor], j, k)
			if ctx.Err() != nil {
				return runs
			}
			runs++
			used += run.CPU
			if err != nil {
				j.err = fmt.Errorf("%v, run %d of %d: %w", j, k+1, p.n, err)
				break
			}
			if k >= p.warmup {
				j.runs = append(j.runs, run)
			}
		}
		if j.err != nil && !p.keepGoing {
			return runs
		}
		if j.err == nil {
			j.others = machine.others(used)
			p.tell(j)
		}
	}
	return runs
}

// tell says what came of a job, and whether it can be trusted.
func (p *profiling) tell(j *profileJob) {
	if p.progress != nil {
		p.log.Info("measured", "type", j.typ.Name, "mode", j.mode.Name, "figures", profile.StatisticsOf(j.runs))
	}
	if cpus := runtime.NumCPU(); crowded(cpus, j.others, j.shape.Cores) {
		p.log.Warn("others used the machine: figures are too long, and cores too few", "type", j.typ.Name, "mode", j.mode.Name,
			"busy_cores_of_others", fmt.Sprintf("%.1f", j.others), "cores", cpus)
	}
}

// runOnce runs a job for the k-th time, as a worker would.
func (p *profiling) runOnce(ctx context.Context, e workerd.Executor, j *profileJob, k int) (profile.Run, error) {
	id := fmt.Sprintf("profile-%s-%s-%d", j.typ.Name, j.mode.Name, k+1)
	s := worker.Start{
		TaskID: id, Type: j.typ.Name, Mode: j.mode.Name, Executor: j.executor, Image: j.typ.Image,
		Argv: append(j.typ.Argv[:len(j.typ.Argv):len(j.typ.Argv)], j.mode.Argv...), TimeScale: 1, Seed: cluster.HashID(id),
		Shape: cluster.Shape{
			Demand:   cluster.Resources{cluster.Cores: int64(millicoresOf(j.shape.Cores)), cluster.Memory: j.shape.MemoryMB},
			Duration: time.Duration(j.shape.Duration).Milliseconds(),
		},
	}
	begin := time.Now()
	r := e.Run(ctx, s)
	run := profile.Run{Total: time.Since(begin), Startup: r.Startup, CPU: r.CPU, PeakMemory: r.PeakMemory}
	switch {
	case r.Outcome == cluster.Finished:
		return run, nil
	case r.OutOfMemory:
		return run, fmt.Errorf("out of memory: %s (here: -memory)", r.Reason)
	}
	return run, fmt.Errorf("%v, exit code %d: %s", r.Outcome, r.ExitCode, r.Reason)
}
