package drive

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// "Scheduler gone: the client's next submissions go to another", and so do the tasks that it took
// with it.
func TestSchedulerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b", "c")
		for _, s := range schedulers {
			s.runTime = 300 * time.Millisecond
		}
		c := config(t, workload(t, 600, 2*time.Millisecond), schedulers)
		after(t, 600*time.Millisecond, schedulers[1].kill)
		result := replay(t, t.Context(), c)
		if !result.Clean() {
			t.Errorf("got %+v", result)
		}
		before, after := 0, 0
		for _, row := range rows(t, c, result) {
			if row.Scheduler == "b" && row.Scheduled < 600*time.Millisecond {
				before++
			}
			if row.Scheduler == "b" && row.Scheduled > 600*time.Millisecond {
				after++
			}
		}
		if before == 0 || after > 0 {
			t.Errorf("the dead scheduler finished %d of its tasks in time and %d after its death", before, after)
		}
	})
}

// A scheduler that restarts has forgotten its tasks, and is used again.
func TestSchedulerRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[0].runTime = 300 * time.Millisecond
		c := config(t, workload(t, 2000, 2*time.Millisecond), schedulers)
		after(t, time.Second, schedulers[0].restart) // at once: nobody sees it dead
		result := replay(t, t.Context(), c)
		if !result.Clean() {
			t.Errorf("got %+v", result)
		}
		if last := rows(t, c, result)["t1998"]; last.Scheduler != "a" {
			t.Errorf("after its restart, scheduler a is not used: %+v", last)
		}
	})
}

// A reply that is lost leaves the fate of its tasks open: they are submitted again, and a scheduler
// that says that it has them owes their results.
func TestLostReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		rng := rand.New(rand.NewPCG(1, 1))
		schedulers[0].loseReply = func() bool { return rng.IntN(5) == 0 }
		c := config(t, workload(t, 500, time.Millisecond), schedulers)
		result := replay(t, t.Context(), c)
		rows(t, c, result)
		if !result.Clean() {
			t.Errorf("got %+v", result)
		}
	})
}

func TestAllSchedulersDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		c := config(t, workload(t, 1000, 10*time.Millisecond), schedulers)
		c.Patience = 3 * time.Second
		for _, s := range schedulers {
			after(t, 2*time.Second, s.kill)
		}
		result := replay(t, t.Context(), c)
		all := rows(t, c, result)
		if result.Finished < 180 || result.Finished > 200 || result.Lost != 1000-result.Finished {
			t.Errorf("got %+v", result)
		}
		if r := all["t999"]; r.Sent != generator.Never || !strings.Contains(r.Reason, "no scheduler took tasks for 3s") {
			t.Errorf("got %+v", r)
		}
		if result.Elapsed < 5*time.Second || result.Elapsed > 6*time.Second+2*askTimeout {
			t.Errorf("took %v: 2 s until they die, then 3 s of patience", result.Elapsed)
		}
	})
}

// Patience is with silence: an outage shorter than that costs nothing but time.
func TestShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		c := config(t, workload(t, 500, 10*time.Millisecond), schedulers)
		after(t, time.Second, schedulers[0].kill)
		after(t, 8*time.Second, schedulers[0].restart)
		if result := replay(t, t.Context(), c); !result.Clean() {
			t.Errorf("got %+v", result)
		}
	})
}

// A scheduler that was cut off has its tasks still: it says so when they come again, and they run once.
func TestPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		a := schedulers[0]
		a.runTime = 5 * time.Second
		c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
		after(t, 2*time.Second, func() { a.set(func() { a.cut = true }) })
		after(t, 4*time.Second, func() { a.set(func() { a.cut = false }) })
		result := replay(t, t.Context(), c)
		rows(t, c, result)
		if !result.Clean() || result.Elapsed.Round(100*time.Millisecond) != 6*time.Second {
			t.Errorf("got %+v", result)
		}
		for id, times := range a.held {
			if times != 1 {
				t.Errorf("task %s ran %d times", id, times)
			}
		}
	})
}

// A scheduler that answers again is noticed soon.
func TestRecoveryIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
		after(t, 500*time.Millisecond, schedulers[0].kill)
		after(t, 5*time.Second, schedulers[0].restart)
		result := replay(t, t.Context(), c)
		if !result.Clean() || result.Elapsed > 5*time.Second+200*time.Millisecond+tick+200*time.Millisecond {
			t.Errorf("got %+v", result)
		}
	})
}

func TestDrainingAndOverloadedSchedulers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "draining", "overloaded")
		schedulers[0].fail = func(cluster.SubmitRequest) error { return cluster.Errorf(cluster.Draining, "shutting down") }
		full := true
		after(t, 15*time.Second, func() { schedulers[1].set(func() { full = false }) })
		schedulers[1].fail = func(cluster.SubmitRequest) error {
			if full {
				return cluster.Errorf(cluster.Overloaded, "too many unfinished tasks")
			}
			return nil
		}
		c := config(t, workload(t, 100, time.Millisecond), schedulers)
		c.Connections = 2
		result := replay(t, t.Context(), c)
		if !result.Clean() {
			t.Errorf("got %+v", result)
		}
		if asked := schedulers[0].counters["in.submit"]; asked > 20*int64(c.Connections) {
			t.Errorf("a draining scheduler was asked %d times in 15 s", asked)
		}
		if asked := schedulers[1].counters["in.submit"]; asked > 150*int64(c.Connections)+200 {
			t.Errorf("an overloaded scheduler was asked %d times in 15 s", asked)
		}
		for _, row := range rows(t, c, result) {
			if row.Scheduler != "overloaded" || row.Received < 15*time.Second {
				t.Fatalf("got %+v", row)
			}
		}
	})
}

// Only draining schedulers are left: they owe what they took, and the rest has nowhere to go.
func TestEverySchedulerDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		schedulers[0].runTime = 20 * time.Second
		c := config(t, workload(t, 200, 10*time.Millisecond), schedulers)
		after(t, 995*time.Millisecond, func() {
			schedulers[0].set(func() {
				schedulers[0].fail = func(cluster.SubmitRequest) error { return cluster.Errorf(cluster.Draining, "shutting down") }
			})
		})
		result := replay(t, t.Context(), c)
		rows(t, c, result)
		if result.Finished != 100 || result.Lost != 100 {
			t.Errorf("got %+v", result)
		}
	})
}

// Whatever dies, restarts, loses replies or is full, in any order: every task has one row, and as
// long as a scheduler lives, every task finishes.
func TestEveryTaskHasOneRowUnderAnyFaults(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			schedulers := fakes(t, "a", "b", "c")
			for _, s := range schedulers[1:] { // the first one always lives
				s.runTime = time.Duration(rng.IntN(500)+4) * time.Millisecond
				luck := rand.New(rand.NewPCG(seed, 8))
				s.loseReply = func() bool { return luck.IntN(20) == 0 }
				s.fail = func(cluster.SubmitRequest) error {
					switch luck.IntN(60) {
					case 0:
						return cluster.Errorf(cluster.Overloaded, "full")
					case 1:
						return cluster.Errorf(cluster.Draining, "shutting down")
					}
					return nil
				}
				for range rng.IntN(4) {
					at := time.Duration(rng.IntN(3000)) * time.Millisecond
					after(t, at, s.kill)
					after(t, at+time.Duration(rng.IntN(1500))*time.Millisecond, s.restart)
				}
			}
			c := config(t, workload(t, 1000, 2*time.Millisecond), schedulers)
			c.Coalesce, c.Connections = rng.IntN(2) == 0, 1+rng.IntN(3)
			result := replay(t, t.Context(), c)
			all := rows(t, c, result)
			if !result.Clean() {
				t.Errorf("seed %d: %+v", seed, result)
			}
			for _, row := range all {
				if row.Sent < row.Scheduled || !slices.Contains([]string{"a", "b", "c"}, row.Scheduler) {
					t.Fatalf("seed %d: %+v", seed, row)
				}
			}
		})
	}
}
