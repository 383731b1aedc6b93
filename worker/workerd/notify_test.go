package workerd

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// notifying returns how many schedulers have a notifier.
func (b *bench) notifying() int {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.notifiers)
}

// A scheduler that is away gets its results when it is back, each once.
func TestNoticesAreRepeatedUntilTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second}, task{id: "b", takes: 2 * time.Second})
		b.sched.stop()
		pass(time.Minute)
		if s := b.sample(); s.Unacknowledged != 2 {
			t.Errorf("%d results are kept, want 2", s.Unacknowledged)
		}
		b.sched.serve(t, b.net)
		pass(cluster.LastBackoff)
		for _, id := range []string{"a", "b"} {
			if c := only(t, b.sched, id); c.Outcome != cluster.Finished {
				t.Errorf("%s: %+v", id, c)
			}
		}
		b.empty(t)
	})
}

// A notice may be taken and its answer lost: it is repeated, and the scheduler tells the two apart by
// the placements' numbers.
func TestLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		gate := make(chan struct{})
		defer close(gate)
		b.sched.answers(func(n int) error {
			if n == 1 {
				<-gate
			}
			return nil
		})
		b.sched.accept(t, task{id: "a", takes: time.Second})
		pass(time.Minute)
		if got := b.sched.completions()["a"]; len(got) != 2 || got[0] != got[1] {
			t.Errorf("%+v, want the same twice", got)
		}
		b.empty(t)
	})
}

// A notice that fails is tried again after a pause that doubles up to a second; the next one starts
// afresh.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.MaxBatch = 1 })
		b.sched.answers(func(n int) error {
			if n <= 10 || n == 12 {
				return cluster.Errorf(cluster.Overloaded, "later")
			}
			return nil
		})
		b.sched.accept(t, task{id: "a", takes: time.Second}, task{id: "b", takes: time.Second})
		pass(time.Minute)
		if n := len(b.sched.received()); n != 13 {
			t.Fatalf("%d notices, want 13", n)
		}
		for i, want := 1, cluster.FirstBackoff; i < 11; i, want = i+1, min(2*want, cluster.LastBackoff) {
			if pause := b.sched.at[i].Sub(b.sched.at[i-1]); pause != want {
				t.Errorf("pause %d: %v, want %v", i, pause, want)
			}
		}
		if pause := b.sched.at[12].Sub(b.sched.at[11]); pause != cluster.FirstBackoff {
			t.Errorf("pause after a notice that was taken: %v, want %v", pause, cluster.FirstBackoff)
		}
	})
}

// A scheduler that restarted knows nothing of its predecessor's tasks: their results stay here for
// whoever asks, and for its successor when it places one of them again.
func TestRestartedScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.answers(func(int) error { return cluster.Errorf(cluster.Stale, "this is another process") })
		b.sched.accept(t, task{id: "a", takes: time.Second}, task{id: "b", takes: time.Second})
		pass(2 * time.Minute)
		before := len(b.sched.received())
		if before == 0 || before > 2 {
			t.Errorf("%d notices, want no repetition", before)
		}
		b.sched.ref.Incarnation, b.sched.number, b.sched.placed = 2, 0, cluster.Load{}
		b.sched.answers(nil)
		b.sched.attach(t)
		pass(time.Minute)
		if n := len(b.sched.received()); n != before {
			t.Errorf("the new process was told about tasks that it did not place: %d notices more", n-before)
		}
		tasks, err := b.sched.client.Tasks(t.Context(), cluster.TaskQuery{ID: "a"})
		if err != nil || len(tasks) != 1 || tasks[0].Record == nil || tasks[0].Record.Outcome != cluster.Finished {
			t.Errorf("a: %+v, %v: want its result", tasks, err)
		}
		b.sched.accept(t, task{id: "b", takes: time.Second})
		notices := b.sched.received()
		last := notices[len(notices)-1]
		if len(notices) != before+1 || last.SchedulerIncarnation != 2 || last.Completions[0].TaskID != "b" || last.Completions[0].Number != 1 {
			t.Errorf("notices %+v: want b's result for placement 1 at once", notices[before:])
		}
	})
}

// A scheduler may come back elsewhere.
func TestSchedulerMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second})
		pass(2 * time.Second)
		b.sched.stop()
		b.sched.ref.Address, b.sched.ref.Incarnation, b.sched.incarnation = "s1:2", 2, 0
		b.sched.serve(t, b.net)
		b.sched.accept(t, task{id: "b", takes: time.Second})
		pass(2 * time.Second)
		only(t, b.sched, "b")
		if _, open := b.net.connections("s1:1"); open != 0 {
			t.Errorf("%d connections to the old address are open", open)
		}
	})
}

// What ends while a notice is under way travels in the next one, as far as a batch goes.
func TestCompletionsGatherWhileANoticeIsUnderWay(t *testing.T) {
	for most, want := range map[int]int{128: 2, 2: 4, 1: 6} {
		t.Run(fmt.Sprint(most, " a notice"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, func(c *Config) { c.MaxBatch = most })
				gate := make(chan struct{})
				b.sched.answers(func(n int) error {
					if n == 1 {
						<-gate
					}
					return nil
				})
				for i := range 6 {
					b.sched.accept(t, task{id: fmt.Sprint("t", i), takes: time.Second, cores: 4})
				}
				pass(6 * time.Second)
				close(gate)
				if n := len(b.sched.received()); n != want {
					t.Errorf("%d notices, want %d", n, want)
				}
				if n := len(b.sched.completions()); n != 6 {
					t.Errorf("%d tasks, want 6", n)
				}
				b.empty(t)
			})
		})
	}
}

// The report that rides on a notice is older than the one that the same completion sends to the data
// service: a snapshot with the latter is then news to the scheduler, whoever ran first here.
func TestRiderPrecedesTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tasks = 50
		b := start(t, func(c *Config) { c.Heartbeat = time.Hour })
		b.sched.ref.Riders = true
		for i := range tasks {
			b.sched.accept(t, task{id: fmt.Sprint("t", i), takes: time.Second, cores: 4})
		}
		begun := len(b.data.reported())
		pass(tasks * time.Second)
		notices, reports := b.sched.received(), b.data.reported()[begun:]
		if len(notices) != tasks || len(reports) != tasks {
			t.Fatalf("%d notices and %d reports, want %d of each", len(notices), len(reports), tasks)
		}
		for i := range tasks {
			if rider := notices[i].Report; rider == nil || rider.Sequence >= reports[i].Sequence || rider.Load != reports[i].Load {
				t.Errorf("completion %d: rider %+v, report %+v", i, rider, reports[i])
			}
		}
	})
}

// Schedulers come and go: what the worker keeps for each goes with it.
func TestNotifiersDoNotGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		for i := range 20 {
			s := newScheduler(t, b.net, fmt.Sprint("passing", i), 1)
			s.accept(t, task{id: fmt.Sprint("t", i), takes: time.Second})
		}
		pass(20 * time.Second)
		if n := b.notifying(); n != 20 {
			t.Errorf("%d notifiers, want 20", n)
		}
		pass(worker.Linger)
		if n := b.notifying(); n != 0 {
			t.Errorf("%d notifiers left", n)
		}
		if ever, open := b.net.connections("passing7:1"); ever != 1 || open != 0 {
			t.Errorf("%d of %d connections left open", open, ever)
		}
		b.sched.accept(t, task{id: "late", takes: time.Second})
		pass(time.Second)
		only(t, b.sched, "late")
	})
}

// As long as there is work now and then, the connection stays.
func TestBusyNotifierStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		for i := range 10 {
			b.sched.accept(t, task{id: fmt.Sprint("t", i), takes: worker.Linger * 3 / 4})
			pass(worker.Linger * 3 / 4)
		}
		if ever, _ := b.net.connections("s1:1"); ever != 1 || len(b.sched.completions()) != 10 {
			t.Errorf("%d connections for %d completions, want one for ten", ever, len(b.sched.completions()))
		}
	})
}

// A completion that comes just when its notifier ends is carried all the same.
func TestCompletionAtTheEndOfANotifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second}, task{id: "b", takes: time.Second + worker.Linger})
		pass(2 * worker.Linger)
		only(t, b.sched, "a")
		only(t, b.sched, "b")
		b.empty(t)
	})
}

// Results that nobody takes are kept for a bounded time, and then nobody is called any more.
func TestResultsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second})
		b.sched.stop()
		keep := worker.DefaultLimits().RetainFor
		pass(keep)
		if s := b.sample(); s.Unacknowledged != 1 {
			t.Errorf("%d results are kept, want 1", s.Unacknowledged)
		}
		pass(2*cluster.LastBackoff + tickEvery + worker.Linger)
		if s := b.sample(); s.Counts.Dropped != 1 || b.notifying() != 0 {
			t.Errorf("%d results dropped, %d notifiers; want one and none", s.Counts.Dropped, b.notifying())
		}
		b.empty(t)
	})
}
