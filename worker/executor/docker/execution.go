package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// execution is one task in its container.
type execution struct {
	*Executor
	task    *worker.Start
	begin   time.Time
	capture *executor.Capture // of a command
	name    string            // ours, known even when the engine did not answer
	id      string            // the engine's

	ended   <-chan exit
	hangUp  context.CancelFunc // on ended
	resumed bool               // the engine was away meanwhile
	startup time.Duration
}

var (
	errNoImage = errors.New("no such image")
	errKilled  = errors.New("killed") // because the context of the execution had ended
)

func (x *execution) run(ctx context.Context) worker.Result {
	x.name = x.newName()
	defer func() { x.release(x.name) }()
	if err := x.create(ctx); err != nil {
		return x.neverBegan(ctx, err)
	}
	defer x.discard()
	if ctx.Err() != nil {
		return executor.Interrupted(ctx)
	}
	// Next-exit is what the container has not done yet: waiting has to begin before it can end.
	if err := x.register(container.WaitConditionNextExit); err != nil {
		return x.neverBegan(ctx, err)
	}
	defer func() { x.hangUp() }()
	finish, err := x.listen()
	if err != nil {
		return x.neverBegan(ctx, err)
	}
	if err := x.request(requestLimit, func(ctx context.Context) error { return x.engine.start(ctx, x.name) }); err != nil {
		finish(false)
		return x.notStarted(ctx, err)
	}
	m := x.measure()
	code, err := x.await(ctx)
	m.stop()
	finish(true)
	return x.result(ctx, code, err, m)
}

// create makes the container. An engine that does not answer gets a second chance.
func (x *execution) create(ctx context.Context) error {
	err := x.createOnce()
	if unreachable(err) && x.reconnects(ctx) {
		x.release(x.name) // whatever has become of it
		x.name = x.newName()
		err = x.createOnce()
	}
	return err
}

func (x *execution) createOnce() error {
	err := x.request(requestLimit, func(ctx context.Context) (err error) {
		program := x.program(x.task)
		if x.task.Command != nil {
			if err := x.command(program, x.task); err != nil {
				return err
			}
		}
		x.id, err = x.engine.create(ctx, x.name, program, x.confinement(x.task))
		return err
	})
	if unreachable(err) {
		x.noteLeftover() // it may have been made all the same
	}
	if errdefs.IsNotFound(err) {
		err = errNoImage
	}
	return err
}

// discard removes the container, and what was left behind before.
func (x *execution) discard() {
	if x.remove(x.name) == nil {
		x.removeLeftovers()
	}
}

// register makes the engine tell when the container has ended.
func (x *execution) register(until container.WaitCondition) (err error) {
	ctx, hangUp := context.WithCancel(context.Background())
	x.hangUp = hangUp
	limit := time.AfterFunc(requestLimit, hangUp)
	x.ended, err = x.engine.wait(ctx, x.name, until)
	if !limit.Stop() {
		err = noAnswer(requestLimit)
	}
	if err != nil {
		hangUp()
	}
	return err
}

func (x *execution) inspect() (state *container.State, err error) {
	err = x.request(inspectLimit, func(ctx context.Context) (err error) {
		state, err = x.engine.inspect(ctx, x.name)
		return err
	})
	return state, err
}

// await returns the exit code of the container once it has ended, by itself or because of ctx.
func (x *execution) await(ctx context.Context) (code int, err error) {
	for {
		select {
		case end := <-x.ended:
			if end.err == nil {
				return end.code, nil
			}
			code, running, err := x.resume(ctx, end.err)
			if !running {
				return code, err
			}
		case <-ctx.Done():
			return executor.NoExitCode, x.kill()
		}
	}
}

// resume takes the waiting up when the connection has broken: the engine was restarted, perhaps, and has
// left its containers alone.
func (x *execution) resume(ctx context.Context, broken error) (code int, running bool, err error) {
	x.hangUp()
	x.resumed = true
	switch {
	case x.reconnects(ctx):
	case ctx.Err() != nil:
		return executor.NoExitCode, false, x.kill()
	default:
		return executor.NoExitCode, false, broken
	}
	state, err := x.inspect()
	switch {
	case err != nil:
		return executor.NoExitCode, false, err
	case !state.Running:
		return state.ExitCode, false, nil
	}
	err = x.register(container.WaitConditionNotRunning)
	return executor.NoExitCode, err == nil, err
}

// kill ends the container and waits until it is gone. What a kill does not end, its removal does.
func (x *execution) kill() error {
	if x.request(killLimit, func(ctx context.Context) error { return x.engine.kill(ctx, x.name) }) != nil {
		return errKilled
	}
	late := time.NewTimer(killLimit)
	defer late.Stop()
	select {
	case <-x.ended:
	case <-late.C:
	}
	return errKilled
}

// neverBegan is the result of a task whose container was not started.
func (x *execution) neverBegan(ctx context.Context, err error) worker.Result {
	outcome := cluster.Lost
	switch {
	case ctx.Err() != nil:
		return executor.Interrupted(ctx)
	case err == errNoImage:
		err = fmt.Errorf("image %s is not on the engine of worker %s: build or load it there, nothing is pulled", x.task.Image, x.cfg.Worker)
	case unreachable(err):
		err = fmt.Errorf("the container engine of worker %s cannot be used: %w", x.cfg.Worker, err)
	default:
		outcome, err = cluster.Failed, fmt.Errorf("make the container: %w", err)
	}
	return worker.Result{Outcome: outcome, ExitCode: executor.NoExitCode, Reason: err.Error()}
}

// noDriver is in the words of an engine that lacks the driver of a device request. It has no other way to tell, before or then:
// a worker that failed such tasks at once would look idle to schedulers, and get them all.
const noDriver = "could not select device driver"

// notStarted is the result of a task whose container the engine did not start, or did not say so.
func (x *execution) notStarted(ctx context.Context, err error) worker.Result {
	if ctx.Err() != nil {
		return executor.Interrupted(ctx)
	}
	if strings.Contains(err.Error(), noDriver) {
		return worker.Result{Outcome: cluster.Lost, ExitCode: executor.NoExitCode,
			Reason: fmt.Sprintf("the container engine of worker %s cannot give devices: %v", x.cfg.Worker, err)}
	}
	exitCode := executor.NoExitCode
	if state, _ := x.inspect(); state != nil && state.ExitCode != 0 {
		exitCode = state.ExitCode // as a shell has it: 126 cannot be executed, 127 not found
	}
	return executor.Failed(exitCode, fmt.Errorf("start the container: %w", err))
}
