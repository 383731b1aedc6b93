package workerd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// execute starts a task. The caller holds the lock.
func (d *Daemon) execute(s worker.Start) {
	ctx, kill := context.WithCancel(d.running)
	d.kill[s.TaskID] = kill
	d.work.Go(func() {
		defer kill()
		result := d.run(ctx, s)
		d.noticeLoss(&result)
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.kill, s.TaskID)
		d.perform(d.node.Finished(d.now(), s.TaskID, result))
		d.noteIdle()
	})
}

// noteIdle tells the drain that nothing runs any more. Nothing starts while the worker is leaving, so
// this happens once. The caller holds the lock.
func (d *Daemon) noteIdle() {
	if d.leaving && len(d.kill) == 0 {
		close(d.idle)
	}
}

// run hands a task to its executor. A task that brings its executor down fails; the worker lives.
func (d *Daemon) run(ctx context.Context, s worker.Start) (result worker.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			d.log.Error("executor panicked", "executor", s.Executor, "task", s.TaskID, "cause", cause, "stack", string(debug.Stack()))
			result = worker.Result{Outcome: cluster.Failed, ExitCode: -1, Reason: fmt.Sprintf("executor %s panicked: %v", s.Executor, cause)}
		}
	}()
	e := d.cfg.Executors[s.Executor]
	if e == nil {
		return worker.Result{Outcome: cluster.Failed, ExitCode: -1, Reason: fmt.Sprintf("worker %s has no executor %q", d.self.Name, s.Executor)}
	}
	if s.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		ctx = limited
	}
	return e.Run(ctx, s)
}

// executorsReady says which executors lack something outside the worker, such as a container engine.
func (d *Daemon) executorsReady() error {
	var reasons []error
	for _, name := range d.executorNames() {
		if err := d.cfg.Executors[name].Ready(); err != nil {
			reasons = append(reasons, fmt.Errorf("worker %s: %w", d.self.Name, err))
		}
	}
	return errors.Join(reasons...)
}

// CloseExecutors gives back what executors hold. Nothing runs on them any more.
func CloseExecutors(executors map[string]executor.Executor) error {
	var failures []error
	for name, e := range executors {
		if err := e.Close(); err != nil {
			failures = append(failures, fmt.Errorf("executor %s did not close: %w", name, err))
		}
	}
	return errors.Join(failures...)
}

func (d *Daemon) executorNames() []string { return slices.Sorted(maps.Keys(d.cfg.Executors)) }
