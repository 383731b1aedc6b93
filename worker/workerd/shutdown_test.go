package workerd

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// shutDown asks the worker to stop, without waiting for it.
func (b *bench) shutDown() { go b.stop(); synctest.Wait() }

// Drain: new placements are refused, with the worker's state; what it holds goes on; everybody can see it.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "held", takes: time.Minute})
		if err := b.sched.client.Drain(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		reports := b.data.reported()
		if last := reports[len(reports)-1]; !last.Draining || last.Load.Tasks != 1 {
			t.Errorf("last report %+v, want it draining", last)
		}
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "draining") {
			t.Errorf("ready: %v", err)
		}
		reply := b.sched.place(t, task{id: "new", takes: time.Second})
		if len(reply.Refused) != 1 || reply.Refused[0].Code != cluster.NodeDraining || reply.Refused[0].Number != 2 {
			t.Errorf("refused %+v", reply.Refused)
		}
		if reply.Report == nil || !reply.Report.Draining || reply.Report.Load.Tasks != 1 || reply.Report.Received[0].Number != 2 {
			t.Errorf("the refusal's report: %+v", reply.Report)
		}
		if err := b.sched.client.Drain(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		b.sched.accept(t, task{id: "new", takes: time.Second})
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
		pass(time.Minute)
		if held, again := only(t, b.sched, "held"), only(t, b.sched, "new"); held.Outcome != cluster.Finished ||
			again.Outcome != cluster.Finished {
			t.Errorf("%+v, %+v", held, again)
		}
	})
}

// At shutdown waiting tasks are given back at once; running ones get DrainTimeout, then they are killed
// and given back. The worker leaves when its schedulers know.
func TestShutdownGivesTasksBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		other := newScheduler(t, b.net, "s2", 1)
		b.sched.accept(t, task{id: "short", takes: 30 * time.Second})
		other.accept(t, task{id: "long", takes: time.Hour})
		b.sched.accept(t, task{id: "waiting", takes: time.Second})
		pass(10 * time.Second)
		b.shutDown()
		if c := only(t, b.sched, "waiting"); c.Outcome != cluster.Lost || c.Run != 0 ||
			!strings.Contains(c.Reason, "worker w1 is shutting down") {
			t.Errorf("waiting: %+v, want it lost at once", c)
		}
		if reply := b.sched.place(t, task{id: "new"}); len(reply.Refused) != 1 || reply.Refused[0].Code != cluster.NodeDraining {
			t.Errorf("a new task: %+v, want it refused", reply)
		}
		pass(59 * time.Second)
		if b.hasEnded() {
			t.Fatal("ended while a task may run")
		}
		if c := only(t, b.sched, "short"); c.Outcome != cluster.Finished {
			t.Errorf("short: %+v, want it finished in the time it had", c)
		}
		pass(time.Second)
		if !b.hasEnded() {
			t.Fatal("runs on after DrainTimeout")
		}
		if c := only(t, other, "long"); c.Outcome != cluster.Lost || c.Run != 70*time.Second ||
			!strings.Contains(c.Reason, "shut down before the task ended") {
			t.Errorf("long: %+v, want it lost", c)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if node, _ := b.data.registered(); node != nil {
			t.Error("still registered")
		}
		if last := other.at[len(other.at)-1]; last.After(b.data.left) {
			t.Error("the last notice came after the worker had left")
		}
		b.empty(t)
	})
}

// A worker whose last task ends does not wait any longer.
func TestShutdownEndsWithTheLastTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: 10 * time.Second})
		before := time.Now()
		b.stop()
		if took := time.Since(before); took != 10*time.Second {
			t.Errorf("took %v, want the task's 10s", took)
		}
		if c := only(t, b.sched, "a"); c.Outcome != cluster.Finished {
			t.Errorf("%+v", c)
		}
	})
}

// A worker has nothing to wait for when it is idle, whatever it did before, nor when all that it keeps is
// of schedulers that restarted.
func TestPromptShutdown(t *testing.T) {
	for what, prepare := range map[string]func(t *testing.T, b *bench){
		"new":  func(*testing.T, *bench) {},
		"idle": func(t *testing.T, b *bench) { b.sched.accept(t, task{id: "a", takes: time.Second}) },
		"of no use": func(t *testing.T, b *bench) {
			b.sched.answers(func(int) error { return cluster.Errorf(cluster.Stale, "this is another process") })
			b.sched.accept(t, task{id: "a", takes: time.Second})
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t)
				prepare(t, b)
				pass(2 * time.Second)
				before := time.Now()
				b.stop()
				if took := time.Since(before); took != 0 {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// Somebody who is out of reach does not keep the worker for long.
func TestShutdownWithoutTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		stop := serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		b.run(t)
		b.sched.accept(t, task{id: "a", takes: time.Hour}, task{id: "b", takes: time.Hour, cores: 4})
		stop()
		b.sched.stop()
		before := time.Now()
		b.stop()
		if took := time.Since(before); took < b.cfg.DrainTimeout || took > b.cfg.DrainTimeout+2*shutdownLimit {
			t.Errorf("took %v, want DrainTimeout and a moment for good-bye", took)
		}
	})
}

// A scheduler that is slow to take its notices still gets all of them before the worker leaves.
func TestShutdownWaitsForNoticesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.MaxBatch, c.DrainTimeout = 1, 0 })
		b.sched.answers(func(int) error {
			<-time.After(shutdownLimit / 5)
			return nil
		})
		b.sched.accept(t, task{id: "a", takes: time.Second, cores: 4}, task{id: "b", takes: time.Hour}, task{id: "c", takes: time.Hour},
			task{id: "d", takes: time.Hour})
		pass(time.Second)
		b.stop()
		for _, id := range []string{"b", "c", "d"} {
			if c := only(t, b.sched, id); c.Outcome != cluster.Lost {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if last := b.sched.at[len(b.sched.at)-1]; last.After(b.data.left) {
			t.Error("the last notice came after the worker had left")
		}
		b.empty(t)
	})
}

// Once it has said good-bye the worker is silent: a report that is refused must not make it register.
func TestLeavesForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Heartbeat = shutdownLimit / 4 })
		b.data.change(func() { b.data.unregistering = shutdownLimit - time.Millisecond })
		b.stop()
		if node, times := b.data.registered(); node != nil || times != 1 {
			t.Errorf("registered %d times, as %+v; want once, and gone", times, node)
		}
	})
}

// Nobody can take a worker back that shuts down: it would take tasks and die with them.
func TestShutdownCannotBeUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second})
		b.shutDown()
		if err := b.sched.client.Drain(t.Context(), false); !errors.Is(err, cluster.Draining) {
			t.Errorf("drain off: %v, want draining", err)
		}
		if err := b.sched.client.Drain(t.Context(), true); err != nil {
			t.Errorf("drain on: %v, want what is so already", err)
		}
		if reply := b.sched.place(t, task{id: "b"}); len(reply.Refused) != 1 {
			t.Error("took a task")
		}
		pass(time.Second)
		if !b.hasEnded() {
			t.Error("runs on")
		}
	})
}

// A worker that lost its keeper gives its tasks back at once, and fails.
func TestALostKeeperEndsTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := make(chan struct{})
		b := start(t, func(c *Config) { c.Lost = lost })
		b.sched.accept(t, task{id: "running", takes: time.Hour})
		began := time.Now()
		close(lost)
		synctest.Wait()
		if r := only(t, b.sched, "running"); r.Outcome != cluster.Lost || time.Since(began) > time.Second {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
		if err := b.stop(); !errors.Is(err, errLost) {
			t.Errorf("%v", err)
		}
	})
}
