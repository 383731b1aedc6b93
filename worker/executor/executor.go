// Package executor runs tasks on a node: sleep passes the time, stress-ng makes real CPU and memory
// pressure that matches the demand, docker runs a program in a container that is held to the demand,
// process runs a program of this machine, held to the demand where control groups can be made. An executor gets a worker.Start, blocks until the execution has ended, and says how. Its context ends it
// early: a deadline means that the task timed out, anything else that it was cancelled. It runs on Linux.
package executor

import (
	"context"
	"errors"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// noExitCode stands where no program ran to its end.
const noExitCode = -1

// interrupted is the result of an execution that its context ended.
func interrupted(ctx context.Context) worker.Result {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return worker.Result{Outcome: cluster.TimedOut, ExitCode: noExitCode, Reason: "ran past its time limit"}
	}
	return worker.Result{Outcome: cluster.Cancelled, ExitCode: noExitCode, Reason: "cancelled while running"}
}

// estimate is the duration of a task in trace time.
func estimate(s *worker.Start) time.Duration {
	return time.Duration(s.Shape.Duration) * time.Millisecond
}
