package workerd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// engine is an executor that depends on something outside the worker. Tasks that cannot begin are lost.
type engine struct {
	executor.Base
	mu      sync.Mutex
	fault   error
	running int
	closed  int
}

func (e *engine) Run(ctx context.Context, s worker.Start) worker.Result {
	if err := e.Ready(); err != nil {
		return worker.Result{Outcome: cluster.Lost, ExitCode: -1, Reason: err.Error()}
	}
	e.running++
	defer func() { e.running-- }()
	return wait(ctx, s)
}

func (e *engine) set(fault error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault = fault
}

func (e *engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fault
}

func (e *engine) Close() error {
	e.closed++
	if e.running > 0 {
		return errors.New("a task still runs")
	}
	return e.Ready()
}

func withEngine(e *engine) func(*Config) {
	return func(c *Config) { c.Executors["wait"] = e }
}

// A worker that cannot run tasks is not ready, for all of the reasons.
func TestReadyWithItsExecutors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		b := start(t, withEngine(e))
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
		noEngine := errors.New("executor docker: no engine")
		e.set(noEngine)
		if err := b.Ready(); err == nil || err.Error() != "worker w1: executor docker: no engine" || !errors.Is(err, noEngine) {
			t.Errorf("%v", err)
		}
		if err := b.Drain(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "draining") || !errors.Is(err, noEngine) {
			t.Errorf("%v", err)
		}
		b.Drain(t.Context(), false)
		e.set(nil)
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// Executors are closed once, when nothing runs any more, and what they say to that ends nobody.
func TestExecutorsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		b := start(t, withEngine(e), func(c *Config) { c.DrainTimeout = time.Second })
		b.sched.accept(t, task{id: "a", takes: time.Hour})
		pass(time.Second)
		e.set(errors.New("no engine"))
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if e.closed != 1 || e.running != 0 {
			t.Errorf("closed %d times, %d tasks run", e.closed, e.running)
		}
		if c := only(t, b.sched, "a"); c.Outcome != cluster.Lost {
			t.Errorf("%+v", c)
		}
	})
}

// A worker that has to give tasks up takes no more until its executors are ready: it would look idle, and
// get everybody's. What ran goes on.
func TestAWorkerWithoutItsEngineTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		b := start(t, withEngine(e))
		b.sched.accept(t, task{id: "running", takes: time.Minute})
		pass(time.Millisecond)
		e.set(errors.New("executor docker: no engine"))
		if reply := b.sched.place(t, task{id: "first", takes: time.Second}); len(reply.Refused) != 0 {
			t.Errorf("refused %+v before anybody knew", reply.Refused)
		}
		pass(time.Millisecond)
		if c := only(t, b.sched, "first"); c.Outcome != cluster.Lost {
			t.Errorf("%+v", c)
		}
		if last := b.data.last(); !last.Draining || last.Load.Tasks != 1 {
			t.Errorf("last report %+v, want no more tasks", last)
		}
		reply := b.sched.place(t, task{id: "second", takes: time.Second})
		if len(reply.Refused) != 1 || reply.Refused[0].Code != cluster.NodeDraining {
			t.Errorf("refused %+v", reply.Refused)
		}
		pass(10 * askEvery)
		e.set(nil)
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "an executor was away") {
			t.Errorf("ready: %v", err)
		}
		pass(askEvery)
		if err := b.Ready(); err != nil || b.data.last().Draining {
			t.Errorf("the engine is back: %v, %+v", err, b.data.last())
		}
		b.sched.accept(t, task{id: "second", takes: time.Second})
		pass(time.Minute)
		if running, second := only(t, b.sched, "running"), only(t, b.sched, "second"); running.Outcome != cluster.Finished ||
			second.Outcome != cluster.Finished {
			t.Errorf("%+v, %+v", running, second)
		}
	})
}

// A second outage is noticed like the first, and an outage does not end an operator's drain.
func TestOutagesAndDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		b := start(t, withEngine(e))
		for _, id := range []string{"first", "second"} {
			e.set(errors.New("no engine"))
			b.sched.accept(t, task{id: id, takes: time.Second})
			pass(time.Millisecond)
			if !b.data.last().Draining {
				t.Errorf("%s outage: the worker takes tasks", id)
			}
			e.set(nil)
			pass(askEvery)
			if b.data.last().Draining {
				t.Errorf("%s outage: it takes none when it is over", id)
			}
		}
		e.set(errors.New("no engine"))
		b.sched.accept(t, task{id: "third", takes: time.Second})
		pass(time.Millisecond)
		b.Drain(t.Context(), true)
		e.set(nil)
		pass(askEvery)
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "draining") || !b.data.last().Draining {
			t.Errorf("ready: %v, last report %+v", err, b.data.last())
		}
		b.Drain(t.Context(), false)
		if err := b.Ready(); err != nil || b.data.last().Draining {
			t.Errorf("ready: %v, last report %+v", err, b.data.last())
		}
	})
}

// A task that was given up for reasons of its own says nothing about the next one; a worker that ends
// does not wait for an engine.
func TestLossesWithoutAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		picky := func(c *Config) {
			c.Executors["wait"] = function{run: func(ctx context.Context, s worker.Start) worker.Result {
				if s.TaskID == "lost" {
					return worker.Result{Outcome: cluster.Lost, ExitCode: -1, Reason: "not here"}
				}
				return e.Run(ctx, s)
			}}
		}
		b := start(t, picky)
		b.sched.accept(t, task{id: "lost", takes: time.Second})
		pass(time.Millisecond)
		b.sched.accept(t, task{id: "next", takes: time.Second})
		pass(time.Second)
		if c := only(t, b.sched, "next"); c.Outcome != cluster.Finished {
			t.Errorf("%+v", c)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		e := &engine{fault: errors.New("no engine")}
		b := start(t, withEngine(e))
		b.sched.accept(t, task{id: "a", takes: time.Second})
		pass(time.Minute)
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}
