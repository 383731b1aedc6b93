package executor

import (
	"context"
	"errors"
	"fmt"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// NoExitCode stands where no program ran to its end.
const NoExitCode = -1

// Interrupted is the result of an execution that its context ended.
func Interrupted(ctx context.Context) worker.Result {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return worker.Result{Outcome: cluster.TimedOut, ExitCode: NoExitCode, Reason: "ran past its time limit"}
	}
	return worker.Result{Outcome: cluster.Cancelled, ExitCode: NoExitCode, Reason: "cancelled while running"}
}

// Failed is the result of an execution that went wrong, or that could not begin for reasons of its own.
func Failed(exitCode int, err error) worker.Result {
	return worker.Result{Outcome: cluster.Failed, ExitCode: exitCode, Reason: err.Error()}
}

// Lost is the result of a task that certainly never began, because this machine lacked something: its
// scheduler places it elsewhere.
func Lost(err error) worker.Result {
	return worker.Result{Outcome: cluster.Lost, ExitCode: NoExitCode, Reason: err.Error()}
}

// OutOfMemory is the result of a task that was killed at its limit, and says what to do about it.
func OutOfMemory(exitCode int, s *worker.Start) worker.Result {
	where := fmt.Sprintf("raise memory_mb of task type %s, mode %q", s.Type, s.Mode)
	if s.Command != nil {
		where = "submit it with more memory"
	}
	r := Failed(exitCode, fmt.Errorf("killed: it needs more memory than its demand, %d MiB; %s", MemoryLimit(s), where))
	r.OutOfMemory = true
	return r
}

// WithOutput adds what a program printed, if anything, to the error that it ended with.
func WithOutput(err error, output string) error {
	if output == "" {
		return err
	}
	return errors.Join(err, errors.New(output))
}
