package sim_test

import (
	"fmt"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// Cases that storms have found, each as small as it gets: accounts must be exact, and every task finish.
func TestFoundInStorms(t *testing.T) {
	for _, c := range []struct {
		name              string
		nodes, schedulers int
		tasks             int
		batch             int64
		delay, cost       time.Duration
		faults            []sim.Fault
	}{
		{"a placement that its scheduler took to the grave", 1, 2, 1, 3, 50 * ms, 0,
			[]sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 100 * ms}}},
		{"one that the next process does not know", 1, 2, 1, 3, 50 * ms, 0,
			[]sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 100 * ms, Until: 101 * ms}}},
		{"all workers restart at once", 3, 1, 15, 1, 0, 20 * ms, []sim.Fault{{What: "class", Name: "a", At: 1, Until: 2}}},
		{"all workers restart at once, and their tasks go from one to the other", 4, 1, 40, 1, 0, 0,
			[]sim.Fault{{What: "class", Name: "a", At: 100 * ms, Until: 101 * ms}}},
		{"the only scheduler and the data service at once", 1, 1, 40, 1, 50 * ms, 0,
			[]sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 500 * ms, Until: 501 * ms},
				{What: "datastore", At: 1, Until: 2}, {What: "scheduler", Name: "scheduler-1", At: 600 * ms, Until: time.Second}}},
		{"everybody returns to a data service that knows nobody", 2, 1, 5, 1, 0, 0,
			[]sim.Fault{{What: "class", Name: "a", At: 1, Until: 9 * time.Second},
				{What: "datastore", At: 7 * time.Second, Until: 8 * time.Second}}},
		{"a dead worker is still registered when the last task ends", 2, 1, 8, 1, 0, 0, []sim.Fault{{What: "worker", Name: "a-1", At: 500 * ms}}},
		{"a dead scheduler has results to come when the last task ends", 1, 2, 8, 1, 0, 0,
			[]sim.Fault{{What: "scheduler", Name: "scheduler-2", At: 500 * ms}}},
		{"somebody registers for ever", 2, 1, 4, 1, 0, 0, []sim.Fault{{What: "datastore", At: 100 * ms},
			{What: "worker", Name: "a-1", At: 0, Until: 200 * ms}}},
	} {
		for _, policy := range policiesUnderFire {
			t.Run(c.name+"/"+policy, func(t *testing.T) {
				cfg := bare(t, policy, equal("a", c.nodes, 2), units(c.tasks, 0, 700*ms))
				cfg.Schedulers, cfg.Store.Batch, cfg.Replica.DeltaBatch, cfg.Faults = c.schedulers, c.batch, 1, c.faults
				station := sim.Station{Cost: c.cost, Handlers: 2}
				cfg.Network = sim.Network{Delay: c.delay, Scheduler: station, Data: station, Worker: station}
				endless(t, &cfg)
				if _, result := run(t, cfg); result.Finished() != c.tasks {
					t.Errorf("outcomes %v", result.Outcomes)
				}
			})
		}
	}
}

// An answer that comes when its task was submitted again already changes nothing.
func TestLateAnswersOfADeadScheduler(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 1), units(1, 0, ms))
	cfg.Network.Delay = 50 * ms
	cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 40 * ms, Until: 60 * ms}}
	rows, result := run(t, cfg)
	if r := rows["0"]; r.Attempts != 2 || r.Outcome != cluster.Finished {
		t.Errorf("%v after %d attempts: the first submission may have been taken", r.Outcome, r.Attempts)
	}
	if n := result.Counters.Schedulers["scheduler-1"]["in.submit"]; n != 2 {
		t.Errorf("%d submissions, want the repetition, and one more when a poll had found another process", n)
	}
}

// The completion of a task that ended while its scheduler was away, and that the scheduler's next process
// places where it has run, gets there although the worker is between two attempts to tell the former.
func TestCompletionWhileTheSchedulerWasAway(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 1), units(1, 0, 1500*ms))
	cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: time.Second, Until: 2500 * ms}}
	rows, _ := run(t, cfg)
	if r := rows["0"]; r.Outcome != cluster.Finished || r.Completed < 2500*ms || r.Completed > 2500*ms+time.Second+100*ms {
		t.Errorf("%v at %v, want the first execution's result within a second of the scheduler's return", r.Outcome, r.Completed)
	}
}

// The same when the scheduler was away for a moment only: the poll that broke is put again 50 ms later, and
// finds the next process.
func TestCompletionWhileTheSchedulerRestarted(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 1), units(1, 0, 1500*ms))
	cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 1499 * ms, Until: 1501 * ms}}
	rows, _ := run(t, cfg)
	if r := rows["0"]; r.Completed != 1549*ms || r.Attempts != 2 {
		t.Errorf("completed at %v after %d attempts, want at once when the next process has the task, at 1.549s", r.Completed, r.Attempts)
	}
}

// A notice to a scheduler's former process that the next one does not take is followed at once by what the
// worker has for the latter.
func TestCompletionBehindAStaleNotice(t *testing.T) {
	requests := units(20, 0, 10*time.Second)
	requests[0].Duration = 2050 // it ends when the next process is there, and busy with submissions
	cfg := bare(t, "random", equal("a", 1, 20), requests)
	cfg.Network.Delay, cfg.Network.Scheduler = 50*ms, sim.Station{Cost: 100 * ms, Handlers: 1}
	cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 2300 * ms, Until: 2301 * ms}}
	rows, _ := run(t, cfg)
	if r := rows["0"]; r.Completed > 5*time.Second {
		t.Errorf("completed at %v, long after the stale notice was answered", r.Completed)
	}
}

// A probe that nobody answers says that the node is no choice.
func TestUnansweredProbes(t *testing.T) {
	cfg := bare(t, "pot", equal("a", 2, 8), units(40, 100*ms, 500*ms))
	cfg.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: 0}}
	rows, _ := run(t, cfg)
	for _, r := range rows {
		if r.Worker != "a-2" || r.Attempts != 1 {
			t.Errorf("task %s ran on %s after %d attempts", r.TaskID, r.Worker, r.Attempts)
		}
	}
}

// Of a machine that nobody reaches any more, what arrived there may have started, and what was sent in vain
// certainly has not.
func TestWhatArrivedAtAMachineThatDied(t *testing.T) {
	requests := []generator.Request{unit(0, 0, time.Minute), unit(1, time.Second, ms)}
	cfg := bare(t, "least-loaded", append(equal("a", 1, 1), equal("b", 1, 4)...), requests)
	cfg.Workload, _ = generator.NewWorkload(requests, generator.Options{AtMostOnce: true,
		Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	var dead string
	rows, _ := run(t, cfg)
	dead = rows["0"].Worker
	cfg.Replica.SelfCorrection = false
	cfg.Faults = []sim.Fault{{What: "worker", Name: dead, At: 500 * ms}}
	rows, _ = run(t, cfg)
	if rows["0"].Outcome != cluster.Lost || rows["1"].Outcome != cluster.Finished {
		t.Errorf("the one that ran: %v (%s); the one that was sent in vain: %v (%s)", rows["0"].Outcome, rows["0"].Reason, rows["1"].Outcome,
			rows["1"].Reason)
	}
}

// What a machine's handlers had begun when it died may have started, too.
func TestWhatWasBeingTakenByAMachineThatDied(t *testing.T) {
	for _, until := range []time.Duration{0, 10 * time.Second} {
		requests := []generator.Request{unit(0, 0, time.Minute), unit(1, time.Second, ms)}
		cfg := bare(t, "random", equal("a", 1, 2), requests)
		cfg.Workload, _ = generator.NewWorkload(requests, generator.Options{AtMostOnce: true,
			Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
		cfg.Network.Worker.Cost = 100 * ms
		cfg.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: 1050 * ms, Until: until}}
		_, result := run(t, cfg)
		if result.Outcomes[cluster.Lost] != 2 {
			t.Errorf("until %v: outcomes %v, want both lost", until, result.Outcomes)
		}
	}
}

// Without the data service, a scheduler learns from the worker itself that it has restarted.
func TestRestartWithoutTheDataService(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 1), units(3, 2*time.Second, ms))
	cfg.Faults = []sim.Fault{{What: "datastore", At: 0}, {What: "worker", Name: "a-1", At: time.Second, Until: 1100 * ms}}
	rows, result := run(t, cfg)
	if r := rows["1"]; result.Finished() != 3 || r.Attempts != 2 || r.Completed > 2100*ms {
		t.Errorf("outcomes %v; the first one after the restart completed at %v after %d attempts", result.Outcomes, r.Completed, r.Attempts)
	}
}

// A scheduler that is still busy with a push gets four more, at most.
func TestBacklogOfPushes(t *testing.T) {
	for tasks, want := range map[int]int64{1: 1, 3: 3, 5: 5, 20: 5} {
		cfg := bare(t, "dodoor", equal("a", 4, 8), units(tasks, 0, time.Minute))
		cfg.Store.Batch, cfg.Replica.DeltaBatch, cfg.MaxBatch = 1, 1, 1
		cfg.Network.Scheduler.Handlers, cfg.Schedulers = tasks, tasks // so that all flush at once
		cfg.Network.Delay = 100 * ms
		_, result := run(t, cfg)
		if got := result.Counters.Schedulers["scheduler-1"]["in.push"]; got != want {
			t.Errorf("%d flushes at once: %d pushes to each scheduler, want %d", tasks, got, want)
		}
	}
}

func TestWarmup(t *testing.T) {
	cfg := bare(t, "random", equal("a", 2, 2), units(10, ms, ms))
	cfg.Warmup = 3
	rows, _ := run(t, cfg)
	for i := range 10 {
		if r := rows[fmt.Sprint(i)]; r.Warmup != (i < 3) {
			t.Errorf("task %d: warm-up %v", i, r.Warmup)
		}
	}
}
