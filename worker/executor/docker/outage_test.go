package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker/executor"
)

// outages says how a task ends whose engine dies or falls silent at a step. Before the start, it is the
// worker's matter and the task runs elsewhere; after that it is the task's.
var outages = []struct {
	step    string
	outcome cluster.Outcome
	reason  string
}{
	{"create", cluster.Lost, "the container engine of worker w cannot be used"},
	{"wait", cluster.Lost, "the container engine of worker w cannot be used"},
	{"start", cluster.Failed, "start the container"},
	{"inspect", cluster.Failed, "the container engine of worker w was lost while the task ran"},
	{"stats", cluster.Failed, "the container engine of worker w was lost while the task ran"},
	{"logs", cluster.Finished, ""},
	{"remove", cluster.Finished, ""},
}

func TestEngineDiesAtEveryStep(t *testing.T) {
	for _, c := range outages {
		t.Run(c.step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(time.Minute, 0, "")
				d := f.executor()
				f.before[c.step] = f.takenDown
				begin := time.Now()
				r := d.Run(t.Context(), contained(1, 64))
				if r.Outcome != c.outcome || !strings.HasPrefix(r.Reason, c.reason) || r.ExitCode != 0 && r.ExitCode != executor.NoExitCode {
					t.Errorf("%+v", r)
				}
				if took := time.Since(begin); took > time.Minute+reconnectLimit {
					t.Errorf("it took %v", took)
				}
				if err := d.Ready(); err == nil || !errors.Is(err, errDown) {
					t.Errorf("ready: %v", err)
				}
				delete(f.before, c.step)
				f.set(false)
				if err := d.Ready(); err != nil {
					t.Error(err)
				}
				if left := f.names(); len(left) > 0 {
					t.Errorf("%v are left", left)
				}
			})
		})
	}
}

// An engine that takes requests and does not answer costs a bounded time.
func TestEngineFallsSilentAtEveryStep(t *testing.T) {
	for _, c := range outages {
		t.Run(c.step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(time.Second, 0, "")
				d := f.executor()
				f.before[c.step] = silent
				begin := time.Now()
				r := d.Run(t.Context(), contained(1, 64))
				outcome := c.outcome
				if c.step == "inspect" || c.step == "stats" {
					outcome = cluster.Finished // the rest is answered
				}
				if r.Outcome != outcome || outcome != cluster.Finished && !strings.HasSuffix(r.Reason, "the engine did not answer within 1m0s") {
					t.Errorf("%+v", r)
				}
				if took := time.Since(begin); took > 2*requestLimit+removeLimit {
					t.Errorf("it took %v", took)
				}
				delete(f.before, c.step)
				if err := d.Close(); err != nil {
					t.Error(err)
				}
				if left := f.names(); len(left) > 0 {
					t.Errorf("%v are left", left)
				}
			})
		})
	}
}

// The end of a task comes through even while the engine does not answer.
func TestEndedWhileTheEngineIsSilent(t *testing.T) {
	for _, step := range []string{"create", "wait", "start", "inspect", "kill", "logs", "remove"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Hour, 0, "")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			f.before[step] = silent
			begin := time.Now()
			r := f.executor().Run(ctx, contained(1, 64))
			if took := time.Since(begin); r.Outcome != cluster.TimedOut || took > requestLimit+2*killLimit {
				t.Errorf("%s: after %v: %+v", step, took, r)
			}
		})
	}
}

func TestEngineRestarts(t *testing.T) {
	for _, c := range []struct {
		name    string
		step    string
		away    time.Duration
		takes   time.Duration
		code    int
		outcome cluster.Outcome
		reason  string
	}{
		{"before the container was made", "create", 3 * time.Second, time.Second, 0, cluster.Finished, ""},
		{"before the container was made, for too long", "create", time.Minute, time.Second, 0, cluster.Lost,
			"the container engine of worker w cannot be used"},
		{"while the container goes on", "stats", 3 * time.Second, time.Minute, 0, cluster.Finished, ""},
		{"while the container ends", "stats", 3 * time.Second, time.Second, 0, cluster.Finished, ""},
		{"and takes the container along", "stats", 3 * time.Second, time.Second, 143, cluster.Failed,
			"exit status 143 (the container engine was away meanwhile)"},
		{"while the container goes on, for too long", "stats", time.Minute, time.Hour, 0, cluster.Failed,
			"the container engine of worker w was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(c.takes, c.code, "")
				f.once(c.step, func(ctx context.Context) error {
					time.AfterFunc(c.away, func() { f.set(false) })
					return f.takenDown(ctx)
				})
				d := f.executor()
				r := d.Run(t.Context(), contained(1, 64))
				if r.Outcome != c.outcome || !strings.HasPrefix(r.Reason, c.reason) {
					t.Errorf("%+v", r)
				}
				<-time.After(2 * time.Minute)
				if err := d.Ready(); err != nil || len(f.names()) > 0 {
					t.Errorf("ready: %v; left: %v", err, f.names())
				}
			})
		})
	}
}

// An engine that has forgotten a container when it comes back cannot say how it ended.
func TestEngineForgetsAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Minute, 0, "")
		f.once("stats", func(ctx context.Context) error {
			time.AfterFunc(time.Second, func() {
				f.mu.Lock()
				clear(f.containers)
				f.mu.Unlock()
				f.set(false)
			})
			return f.takenDown(ctx)
		})
		r := f.executor().Run(t.Context(), contained(1, 64))
		if r.Outcome != cluster.Failed || !strings.Contains(r.Reason, "lost while the task ran: no such container") {
			t.Errorf("%+v", r)
		}
	})
}

// A worker whose engine is gone holds on to its tasks for a while, instead of turning everybody's away in
// no time; one whose task is cancelled does not.
func TestTasksWaitForTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Second, 0, "")
		f.set(true)
		d := f.executor()
		begin := time.Now()
		if r := d.Run(t.Context(), contained(1, 64)); r.Outcome != cluster.Lost || time.Since(begin) != reconnectLimit {
			t.Errorf("after %v: %+v", time.Since(begin), r)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := d.Run(ctx, contained(1, 64)); r.Outcome != cluster.TimedOut || time.Since(begin) != reconnectLimit+time.Second {
			t.Errorf("after %v: %+v", time.Since(begin), r)
		}
	})
}

// What an engine made without saying so, or did not remove, is found once it answers again, by whichever
// task comes next.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, c := range []struct {
		step  string
		left  int // after one task
		tasks int // until nothing is
	}{{"create", 0, 1}, {"remove", 1, 2}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Second, 0, "")
			d := f.executor()
			f.put(owned{"2", "in-use", d.owner}, "w")
			d.names["in-use"] = true
			f.once(c.step, func(context.Context) error {
				if c.step == "create" {
					f.put(owned{"1", "made-without-a-word", d.owner}, "w")
				}
				return errDown
			})
			for i := range c.tasks {
				if r := d.Run(t.Context(), contained(1, 64)); r.Outcome != cluster.Finished {
					t.Errorf("%+v", r)
				}
				if left := f.names(); i == 0 && len(left) != c.left+1 || i == c.tasks-1 && !slices.Equal(left, []string{"in-use"}) {
					t.Errorf("%s, after %d tasks: %v", c.step, i+1, left)
				}
			}
		})
	}
}

// A container may end while the waiting is taken up again.
func TestEndBetweenTwoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(20*time.Second, 0, "")
		waits := 0
		f.before["wait"] = func(ctx context.Context) error {
			if waits++; waits == 2 {
				return takes(30 * time.Second)(ctx)
			}
			return nil
		}
		f.once("stats", func(ctx context.Context) error {
			time.AfterFunc(time.Second, func() { f.set(false) })
			return f.takenDown(ctx)
		})
		if r := f.executor().Run(t.Context(), contained(1, 64)); r.Outcome != cluster.Finished || waits != 2 {
			t.Errorf("%+v, after %d waits", r, waits)
		}
	})
}
