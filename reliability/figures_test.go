package reliability

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

var figures = flag.Bool("figures", false, "measure the figures of docs/reliability.md: ten minutes on an idle machine")

// figure prints a row of the table.
func figure(t *testing.T, what, format string, args ...any) {
	fmt.Printf("| %s | %s |\n", what, fmt.Sprintf(format, args...))
}

func measured(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured by make reliability, on an idle machine")
	}
}

// run offers a load for a while, lets something happen in the middle, and returns the client.
func (e *ensemble) run(perSecond int, duration, length time.Duration, happen func(c *client)) *client {
	c := newClient("client", e)
	e.t.Cleanup(c.close)
	ctx, stop := context.WithTimeout(context.Background(), length)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.load(ctx, perSecond, duration)
	}()
	happen(c)
	<-done
	c.work.Wait()
	c.settled(time.Minute)
	return c
}

// noticed returns how long the first and the last scheduler take to leave a worker out, so that some are left.
func (e *ensemble) noticed(left int) (first, last time.Duration) {
	took := make([]time.Duration, len(e.schedulers))
	var watching sync.WaitGroup
	for i, s := range e.schedulers {
		watching.Go(func() {
			took[i] = s.until("leaves the worker out", func(c map[string]int64) bool { return c["candidates"] == int64(left) })
		})
	}
	watching.Wait()
	return slices.Min(took), slices.Max(took)
}

func TestWorkerGone(t *testing.T) {
	measured(t)
	for _, how := range []struct {
		name string
		sign syscall.Signal
	}{{"kill -9", syscall.SIGKILL}, {"SIGSTOP, as a machine that is gone without a word", syscall.SIGSTOP}} {
		for _, load := range []int{200, 0} {
			t.Run(fmt.Sprintf("%s at %d tasks a second", how.name, load), func(t *testing.T) {
				e := assemble(t, 3, 4)
				var first, last time.Duration
				happen := func(*client) {
					pause(t.Context(), 3*time.Second)
					e.workers[0].signal(how.sign)
					first, last = e.noticed(3)
				}
				if load == 0 {
					happen(nil)
					figure(t, "worker: "+how.name+", idle schedulers", "out of the candidates of all after %d ms", last.Milliseconds())
					return
				}
				c := e.run(load, 50*time.Millisecond, 8*time.Second, happen)
				s := c.between(0, time.Hour)
				figure(t, "worker: "+how.name+", schedulers with tasks", "out of the candidates of the first after %d ms, of the last after %d; "+
					"of %d accepted tasks %d finished, %d lost", first.Milliseconds(), last.Milliseconds(), s.accepted, s.finished, s.lost+s.missing)
				if s.lost+s.missing > 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// Whoever submits a task once gets its result, though its scheduler is killed. Without -figures it is over sooner, and the load is low.
func TestSchedulerGone(t *testing.T) {
	perSecond, length := 20, 4*time.Second
	if *figures {
		perSecond, length = 200, 20*time.Second
	}
	e := assemble(t, 3, 4)
	c := e.run(perSecond, 100*time.Millisecond, length, func(*client) {
		pause(t.Context(), length/4)
		e.schedulers[0].kill()
		pause(t.Context(), length/4)
		e.schedulers[0].run()
	})
	s := c.between(0, time.Hour)
	figure(t, fmt.Sprintf("scheduler: kill -9, started again %s later; a client that does not submit again", length/4),
		"longest wait of a submission %d ms; of %d accepted tasks %d finished, %d lost", s.gap.Milliseconds(), s.accepted, s.finished,
		s.lost+s.missing)
	if s.lost+s.missing > 0 || s.accepted == 0 {
		t.Errorf("%+v", s)
	}
}

func TestDataServiceAway(t *testing.T) {
	measured(t)
	const length = 80 * time.Second
	for _, policy := range []string{"dodoor", "dodoor+"} {
		var calm, away sums
		for name, s := range map[string]*sums{"calm": &calm, "away": &away} {
			t.Run(policy+" "+name, func(t *testing.T) { // so that what it started has ended before the next begins
				e := assemble(t, 3, 4, "scheduler.policy="+policy)
				*s = e.run(150, 150*time.Millisecond, length, func(*client) {
					if s == &away {
						pause(t.Context(), 10*time.Second)
						e.data.signal(syscall.SIGSTOP)
						pause(t.Context(), time.Minute)
						e.data.signal(syscall.SIGCONT)
					}
				}).between(0, time.Hour)
			})
		}
		figure(t, "data service: SIGSTOP for 60 s of 80, "+policy,
			"P50 %d → %d ms, P99 %d → %d ms; of %d accepted tasks %d finished, %d lost",
			calm.quantile(0.5).Milliseconds(), away.quantile(0.5).Milliseconds(), calm.quantile(0.99).Milliseconds(),
			away.quantile(0.99).Milliseconds(), away.accepted, away.finished, away.lost+away.missing)
		if away.lost+away.missing > 0 {
			t.Errorf("%+v", away)
		}
	}
}

// capacity of four workers with eight slots, at 100 ms a task. What three schedulers take beyond it, four seconds of work, is
// done within ten at half load.
const capacity = 320

func TestOverload(t *testing.T) {
	measured(t)
	e := assemble(t, 3, 4, "scheduler.max_pending=400")
	const task = 100 * time.Millisecond
	c := newClient("client", e)
	t.Cleanup(c.close)
	phase := func(perSecond int, length time.Duration) (from, to time.Duration) {
		from = time.Since(c.start)
		ctx, stop := context.WithTimeout(context.Background(), length)
		defer stop()
		c.load(ctx, perSecond, task)
		return from, time.Since(c.start)
	}
	calmFrom, calmTo := phase(capacity/2, 10*time.Second)
	overFrom, overTo := phase(10*capacity, time.Minute)
	memory := int64(0)
	for _, s := range e.schedulers {
		memory = max(memory, s.memory())
	}
	_, _ = phase(capacity/2, 10*time.Second)
	afterFrom, afterTo := phase(capacity/2, 10*time.Second)
	c.settled(time.Minute)
	calm, over, after := c.between(calmFrom, calmTo), c.between(overFrom, overTo), c.between(afterFrom, afterTo)
	figure(t, "overload: ten times what the workers can do, for 60 s, max_pending 400",
		"%d offered, %d accepted, of which %d finished and %d were lost; "+
			"a scheduler's memory %d MiB; P99 before %d ms, from 10 s after it on %d ms", over.offered, over.accepted, over.finished,
		over.lost+over.missing, memory, calm.quantile(0.99).Milliseconds(), after.quantile(0.99).Milliseconds())
	if all := c.between(0, time.Hour); all.lost+all.missing > 0 {
		t.Errorf("%+v", all)
	}
}
