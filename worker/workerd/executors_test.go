package workerd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// engine is an executor that depends on something outside the worker.
type engine struct {
	fault   error
	running int
	closed  int
}

func (e *engine) Run(ctx context.Context, s worker.Start) worker.Result {
	e.running++
	defer func() { e.running-- }()
	return wait(ctx, s)
}

func (e *engine) Ready() error { return e.fault }

func (e *engine) Close() error {
	e.closed++
	if e.running > 0 {
		return errors.New("a task still runs")
	}
	return e.fault
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
		e.fault = errors.New("executor docker: no engine")
		if err := b.Ready(); err == nil || err.Error() != "worker w1: executor docker: no engine" || !errors.Is(err, e.fault) {
			t.Errorf("%v", err)
		}
		if err := b.Drain(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "draining") || !errors.Is(err, e.fault) {
			t.Errorf("%v", err)
		}
		b.Drain(t.Context(), false)
		e.fault = nil
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
		e.fault = errors.New("no engine")
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
