// Package executor says what can run tasks on a node, and has what all of those share. Sleep passes the time.
// In packages of their own, stressng makes real CPU and memory pressure that matches the demand, docker runs a
// program in a container that is held to the demand, and process runs a program of this machine, held to the
// demand where control groups can be made.
package executor

import (
	"context"
	"errors"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Executor runs tasks of one kind.
type Executor interface {
	// Run runs one task to its end. When ctx ends it stops the execution, all of it, and returns: timed out
	// if that was a deadline, cancelled otherwise.
	Run(ctx context.Context, s worker.Start) worker.Result
	// Allows says why the executor may not run a command for a user here, if so, and which setting to change. An empty user is nobody
	// in particular.
	Allows(user string, t *cluster.Template) error
	// Check fails when something is missing that tasks need. It removes what earlier processes of the
	// worker have left behind, and comes before the first task.
	Check() error
	// Swept returns how many leftovers Check removed.
	Swept() int
	// Unlimited says why tasks can take more than their demand although they were to be limited, if so;
	// Check finds out.
	Unlimited() error
	// Emulates reports that no work is done, so that time can be scaled.
	Emulates() bool
	// Ready says what outside the worker is away, such as a container engine, if anything is.
	Ready() error
	// Close gives back what the executor holds. Nothing may run any more.
	Close() error
}

// Base has what an Executor need not do: it does real work, depends on nothing that could be away, leaves
// nothing behind and holds nothing. Executors embed it and redefine what differs.
type Base struct{}

// Allows refuses every command: an executor of types runs none.
func (Base) Allows(string, *cluster.Template) error {
	return errors.New("worker.executor names an executor that runs no commands: leave it empty, and list programs in process.allow")
}

// Check never fails: nothing needs to be installed.
func (Base) Check() error { return nil }

// Swept returns zero: nothing was left behind.
func (Base) Swept() int { return 0 }

// Unlimited returns nil: there is nothing to say.
func (Base) Unlimited() error { return nil }

// Emulates reports that the work is real.
func (Base) Emulates() bool { return false }

// Ready returns nil: nothing can be away.
func (Base) Ready() error { return nil }

// Close has nothing to give back.
func (Base) Close() error { return nil }
