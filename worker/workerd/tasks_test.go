package workerd

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// only returns the one completion that a scheduler got for a task.
func only(t *testing.T, s *fakeScheduler, id string) cluster.Completion {
	t.Helper()
	got := s.completions()[id]
	if len(got) != 1 {
		t.Fatalf("%d completions of %s, want 1", len(got), id)
	}
	return got[0]
}

// empty fails the test unless the worker holds nothing and keeps nothing.
func (b *bench) empty(t *testing.T) {
	t.Helper()
	s := b.sample()
	if s.Queued != 0 || s.Running != 0 || s.Unacknowledged != 0 || !s.Load.IsZero() || s.Reserved != (cluster.Resources{}) {
		t.Errorf("left behind: %+v", s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if held := b.node.Tasks(cluster.TaskQuery{Max: 10}); len(held) > 0 || len(b.kill) > 0 {
		t.Errorf("tasks held: %+v; executions: %d", held, len(b.kill))
	}
}

func TestTaskToCompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: 3 * time.Second, cores: 4}, task{id: "b", takes: 2 * time.Second})
		pass(time.Second)
		if s := b.sample(); s.Running != 1 || s.Queued != 1 {
			t.Errorf("%d run and %d wait, want one each: the head needs every core", s.Running, s.Queued)
		}
		pass(time.Minute)
		a, second := only(t, b.sched, "a"), only(t, b.sched, "b")
		if a.Outcome != cluster.Finished || a.Number != 1 || a.Wait != 0 || a.Run != 3*time.Second {
			t.Errorf("a: %+v", a)
		}
		if second.Outcome != cluster.Finished || second.Number != 2 || second.Wait != 3*time.Second || second.Run != 2*time.Second {
			t.Errorf("b: %+v", second)
		}
		n := b.sched.received()[0]
		if n.Node != "w1" || n.NodeIncarnation != b.self.Incarnation || n.SchedulerIncarnation != 1 {
			t.Errorf("notice %+v", n)
		}
		b.empty(t)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "running", takes: time.Hour, cores: 4}, task{id: "waiting", takes: time.Hour},
			task{id: "next", takes: time.Second})
		pass(time.Second)
		for _, id := range []string{"waiting", "running"} {
			if found, err := b.sched.client.Cancel(t.Context(), id, ""); err != nil || !found {
				t.Fatalf("cancel %s: %v, %v", id, found, err)
			}
			synctest.Wait()
			if c := only(t, b.sched, id); c.Outcome != cluster.Cancelled {
				t.Errorf("%s: %+v", id, c)
			}
			if found, err := b.sched.client.Cancel(t.Context(), id, ""); err != nil || found {
				t.Errorf("cancel %s again: %v, %v", id, found, err)
			}
		}
		pass(time.Second)
		if c := only(t, b.sched, "next"); c.Outcome != cluster.Finished || c.Wait != time.Second {
			t.Errorf("next: %+v, want it started when the head was cancelled", c)
		}
		b.empty(t)
	})
}

// "timeout_factor × estimate is what ends a run, not the estimate itself."
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := function{run: func(ctx context.Context, s worker.Start) worker.Result {
			s.Shape.Duration *= 10
			return wait(ctx, s)
		}}
		b := start(t, func(c *Config) {
			c.Node.Limits.TimeoutFactor = 1.5
			c.Executors["wait"] = slow
		})
		b.sched.accept(t, task{id: "a", takes: 2 * time.Second})
		pass(time.Minute)
		if c := only(t, b.sched, "a"); c.Outcome != cluster.TimedOut || c.Run != 3*time.Second {
			t.Errorf("%+v, want timed out after 3s", c)
		}
		b.empty(t)
	})
}

// A task that brings its executor down fails; the worker lives.
func TestPanickingExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "bad", kind: "fatal"}, task{id: "good", takes: time.Second})
		pass(time.Second)
		if c := only(t, b.sched, "bad"); c.Outcome != cluster.Failed || !strings.Contains(c.Reason, "executor panic panicked: out of ideas") {
			t.Errorf("bad: %+v", c)
		}
		if c := only(t, b.sched, "good"); c.Outcome != cluster.Finished {
			t.Errorf("good: %+v", c)
		}
		b.empty(t)
	})
}

func TestMissingExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", kind: "odd"})
		synctest.Wait()
		if c := only(t, b.sched, "a"); c.Outcome != cluster.Failed || !strings.Contains(c.Reason, `worker w1 has no executor "gone"`) {
			t.Errorf("%+v", c)
		}
		b.empty(t)
	})
}

func TestProbeStateAndTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: 4 * time.Second, cores: 4}, task{id: "b", takes: 2 * time.Second})
		probe, err := b.sched.client.Probe(t.Context(), "p", cluster.Resources{1000})
		if err != nil || probe.Tasks != 2 || probe.Pending != 6000 || probe.Latency >= 0 {
			t.Errorf("probe %+v, %v", probe, err)
		}
		state, err := b.sched.client.State(t.Context())
		if err != nil || state.Running != 1 || state.Queued != 1 || state.Load.Tasks != 2 {
			t.Errorf("state %+v, %v", state, err)
		}
		tasks, err := b.sched.client.Tasks(t.Context(), cluster.TaskQuery{ID: "b"})
		if err != nil || len(tasks) != 1 || tasks[0].Phase != cluster.Queued || tasks[0].Scheduler != "s1" {
			t.Errorf("tasks %+v, %v", tasks, err)
		}
		pass(time.Minute)
		probe, err = b.sched.client.Probe(t.Context(), "p", cluster.Resources{1000})
		if err != nil || probe.Tasks != 0 || probe.Latency < 0 {
			t.Errorf("probe of an idle worker with a past: %+v, %v", probe, err)
		}
		counts, err := b.sched.client.Counters(t.Context())
		if err != nil || counts["tasks.finished"] != 2 || counts["accepted"] != 2 || counts["in.enqueue"] != 1 || counts["out.complete"] != 2 {
			t.Errorf("counters %v, %v", counts, err)
		}
	})
}
