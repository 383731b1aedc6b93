package executor

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Sleep emulates tasks: it waits for the estimated duration times a random factor, divided by the
// task's time scale. A task costs one timer, so that one machine can emulate a large cluster. The
// wait is one deadline from the start (errors do not add up); timers ring up to a millisecond late,
// which under a time scale of k looks like k milliseconds.
type Sleep struct {
	Base
	worker.Emulation
}

// Emulates reports that time can be scaled.
func (Sleep) Emulates() bool { return true }

// Allows every command: none of it happens.
func (Sleep) Allows(string, *cluster.Template) error { return nil }

// Run waits. The result's CPU time and memory are zero.
func (e Sleep) Run(ctx context.Context, s worker.Start) worker.Result {
	timer := time.NewTimer(e.Duration(&s))
	defer timer.Stop()
	select {
	case <-timer.C:
		return worker.Result{Outcome: cluster.Finished}
	case <-ctx.Done():
		return Interrupted(ctx)
	}
}
