package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// result is how a task ended that had begun.
func (x *execution) result(ctx context.Context, code int, err error, m *meter) worker.Result {
	output := x.output()
	var r worker.Result
	switch {
	case errors.Is(err, errKilled):
		r = executor.Interrupted(ctx)
	case err != nil:
		r = executor.Failed(executor.NoExitCode, fmt.Errorf("the container engine of worker %s was lost while the task ran: %w", x.cfg.Worker,
			err))
	case x.outOfMemory(code, m.peak):
		r = executor.OutOfMemory(code, x.task)
		m.peak = max(m.peak, executor.MemoryLimit(x.task)<<20) // that is what it was killed for
	case code == 0:
		r = worker.Result{Outcome: cluster.Finished}
	default:
		r = executor.Failed(code, x.exitStatus(code, output))
	}
	r.CPU, r.PeakMemory = m.cpu, executor.MiB(m.peak)
	r.Startup, r.Output, r.Printed = x.startup, output, x.capture.Printed()
	return r
}

func (x *execution) exitStatus(code int, output string) error {
	err := fmt.Errorf("exit status %d", code)
	if x.resumed {
		err = fmt.Errorf("%w (the container engine was away meanwhile)", err)
	}
	return executor.WithOutput(err, output)
}

// output is the end of what the container printed, as far as the engine still knows.
func (x *execution) output() string {
	if x.task.Command != nil {
		return x.capture.Tail()
	}
	var end executor.Tail
	_ = x.request(inspectLimit, func(ctx context.Context) error { return x.engine.logs(ctx, x.name, &end) })
	return end.String()
}

const (
	killedCode    = 128 + 9 // by the kernel, for one
	oomCheckEvery = 50 * time.Millisecond
	oomChecks     = 10
)

// outOfMemory reports whether the kernel killed a container, or a part of it, at its memory limit. The engine hears of
// that apart from the exit, and perhaps a little later: one that failed, and was killed or seen at its limit, is asked about for
// a while. Without a failure one look has to do, since files alone may fill the memory of a task that did well.
func (x *execution) outOfMemory(code int, peak int64) bool {
	limit := executor.MemoryLimit(x.task)
	full := limit > 0 && executor.MiB(peak) >= limit
	if code == 0 && !full {
		return false
	}
	suspect := code == killedCode || code != 0 && full
	ticker := time.NewTicker(oomCheckEvery)
	defer ticker.Stop()
	for range oomChecks {
		state, err := x.inspect()
		if err != nil || state.OOMKilled || !suspect {
			return err == nil && state.OOMKilled
		}
		<-ticker.C
	}
	return false
}
