package profile

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/workerd"
)

// Prepare makes each executor once. What they leave outside this process is told from that of workers. Measure
// closes them.
func (p *Profiling) Prepare() error {
	own := *p.c
	own.Worker.Name = "profile-" + p.class.Name
	p.executors = map[string]executor.Executor{}
	for i := range p.jobs {
		name := p.jobs[i].executor
		if p.executors[name] != nil {
			continue
		}
		e, err := assemble.Executor(name, &own, p.log)
		if err != nil {
			return errors.Join(err, workerd.CloseExecutors(p.executors))
		}
		p.executors[name] = e
	}
	return nil
}

// Measure runs every job, one run at a time, and keeps what was measured whatever ends it.
func (p *Profiling) Measure(ctx context.Context) error {
	runs := p.runAll(ctx)
	if err := workerd.CloseExecutors(p.executors); err != nil {
		p.log.Warn("ends all the same", "error", err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped by a signal after %d of at most %d runs", runs, p.most())
	}
	var failures []error
	for i := range p.jobs {
		failures = append(failures, p.jobs[i].err)
	}
	switch err := errors.Join(failures...); {
	case err == nil:
		return nil
	case p.KeepGoing:
		p.log.Warn("left out what failed", "failures", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	default:
		return fmt.Errorf("%w (-keep-going leaves it out and measures the rest)", err)
	}
}

// runAll returns how many runs there were.
func (p *Profiling) runAll(ctx context.Context) (runs int) {
	begin, done := time.Now(), 0
	bar := progress.New(p.progress, p.most())
	defer bar.Finish()
	for i := range p.jobs {
		j := &p.jobs[i]
		machine, used, own := startLoad(), time.Duration(0), 0
		j.err = j.run(p.N, p.Warmup, func(limit conf.Shape) (Run, error) {
			bar.Show(done+own, time.Since(begin), func(float64) string { return j.String() })
			own++
			run, err := p.runOnce(ctx, p.executors[j.executor], j, limit, own)
			if ctx.Err() == nil {
				runs++
			}
			used += run.CPU
			return run, err
		})
		done += p.mostOf(j)
		switch {
		case ctx.Err() != nil, j.err != nil && !p.KeepGoing:
			return runs
		case j.err == nil:
			j.others = machine.others(used)
			p.tell(j)
		}
	}
	return runs
}

// most is how many runs there can be.
func (p *Profiling) most() (runs int) {
	for i := range p.jobs {
		runs += p.mostOf(&p.jobs[i])
	}
	return runs
}

func (p *Profiling) mostOf(j *job) int {
	if j.told {
		return p.N
	}
	return 2*p.N - p.Warmup
}

// tell says what came of a job, and whether it can be trusted.
func (p *Profiling) tell(j *job) {
	if p.progress != nil {
		p.log.Info("measured", "type", j.typ.Name, "mode", j.mode.Name, "figures", j.summary())
	}
	if cpus := runtime.NumCPU(); crowded(cpus, j.others, j.shape.Cores) {
		p.log.Warn("others used the machine: figures are too long, and cores too few", "type", j.typ.Name, "mode", j.mode.Name,
			"busy_cores_of_others", fmt.Sprintf("%.1f", j.others), "cores", cpus)
	}
}

// runOnce runs a job for the k-th time, as a worker would.
func (p *Profiling) runOnce(ctx context.Context, e executor.Executor, j *job, limit conf.Shape, k int) (Run, error) {
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
	run := Run{Total: time.Since(begin), Startup: r.Startup, CPU: r.CPU, PeakMemory: r.PeakMemory}
	switch {
	case r.Outcome == cluster.Finished:
		return run, nil
	case r.OutOfMemory && limit.MemoryMB == j.shape.MemoryMB:
		return run, fmt.Errorf("out of memory: %s (here: -memory)", r.Reason)
	}
	return run, fmt.Errorf("%v, exit code %d: %s", r.Outcome, r.ExitCode, r.Reason)
}
