package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

const ms = time.Millisecond

// slow is a network on which one can see what is under way.
var slow = sim.Network{Delay: 10 * ms, Scheduler: sim.Station{Cost: 10 * ms, Handlers: 8}, Data: sim.Station{Cost: 10 * ms, Handlers: 8},
	Worker: sim.Station{Cost: 10 * ms, Handlers: 16}}

// failing is a cluster of two classes with two schedulers, twenty tasks in two seconds that take one each,
// and what fails.
func failing(t *testing.T, policy string, faults ...sim.Fault) sim.Config {
	cfg := bare(t, policy, append(equal("a", 3, 2), equal("b", 3, 2)...), units(20, 100*ms, time.Second))
	cfg.Schedulers, cfg.Network, cfg.Store.Batch, cfg.Replica.DeltaBatch, cfg.Faults = 2, slow, 4, 2, faults
	cfg.Replica.MaxAttempts = 100 // a task may meet more dead machines than the usual five
	return cfg
}

var policiesUnderFire = []string{"dodoor", "dodoor+", "pot", "random", "prequal", "yarp"}

// Nothing is lost as long as somebody is left or returns: every task finishes, and what a machine had that
// died was placed again.
func TestWhateverFails(t *testing.T) {
	at := func(what, name string, at, until time.Duration) sim.Fault {
		return sim.Fault{What: what, Name: name, At: at, Until: until}
	}
	for _, c := range []struct {
		name   string
		faults []sim.Fault
		again  bool // some task was placed or submitted more than once
	}{
		{"nothing", nil, false},
		{"a worker returns at once", []sim.Fault{at("worker", "a-1", time.Second, 1001*ms), at("worker", "b-1", time.Second, 1001*ms)}, true},
		{"a class returns after it was noticed", []sim.Fault{at("class", "a", time.Second, 20*time.Second)}, true},
		{"a class dies for ever", []sim.Fault{at("class", "a", time.Second, 0)}, true},
		{"all workers return", []sim.Fault{at("class", "a", time.Second, 15*time.Second), at("class", "b", 900*ms, 16*time.Second)}, true},
		{"a scheduler returns at once", []sim.Fault{at("scheduler", "scheduler-1", time.Second, 1001*ms)}, true},
		{"a scheduler returns", []sim.Fault{at("scheduler", "scheduler-2", time.Second, 2*time.Second)}, true},
		{"a scheduler dies for ever", []sim.Fault{at("scheduler", "scheduler-1", time.Second, 0)}, true},
		{"all schedulers return", []sim.Fault{at("scheduler", "scheduler-1", time.Second, 3*time.Second),
			at("scheduler", "scheduler-2", 1100*ms, 2*time.Second)}, true},
		{"the data service returns", []sim.Fault{at("datastore", "", time.Second, 1500*ms)}, false},
		{"the data service dies for ever", []sim.Fault{at("datastore", "", time.Second, 0)}, false},
		{"everything returns", []sim.Fault{at("datastore", "", time.Second, 3*time.Second), at("class", "a", time.Second, 2*time.Second),
			at("class", "b", time.Second, 4*time.Second), at("scheduler", "scheduler-1", 500*ms, 5*time.Second),
			at("scheduler", "scheduler-2", 1500*ms, 2500*ms)}, true},
		{"a worker dies again and again", []sim.Fault{at("class", "b", 100*ms, 0), at("worker", "a-1", 500*ms, 600*ms),
			at("worker", "a-1", 1100*ms, 1200*ms),
			at("worker", "a-1", 1700*ms, 1800*ms)}, true},
	} {
		for _, policy := range policiesUnderFire {
			t.Run(c.name+"/"+policy, func(t *testing.T) {
				cfg := failing(t, policy, c.faults...)
				endless(t, &cfg)
				rows, result := run(t, cfg)
				again := false
				for _, r := range rows {
					again = again || r.Attempts > 1
				}
				if result.Finished() != 20 || again != c.again {
					t.Errorf("%d of 20 tasks finished; some placed again: %v, want %v", result.Finished(), again, c.again)
				}
			})
		}
	}
}

// When nobody is left, the rest of the tasks is lost, with the reason, and the run ends.
func TestNobodyIsLeft(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		faults       []sim.Fault
	}{
		{"schedulers", "no scheduler took tasks for 10s (nobody listens)",
			[]sim.Fault{{What: "scheduler", Name: "scheduler-1", At: time.Second}, {What: "scheduler", Name: "scheduler-2", At: 0}}},
		{"workers", "no worker is left", []sim.Fault{{What: "class", Name: "a", At: time.Second}, {What: "class", Name: "b", At: 500 * ms}}},
		{"nobody who knows the other", "without the data service", []sim.Fault{{What: "datastore", At: time.Second},
			{What: "class", Name: "a", At: 1100 * ms, Until: 1200 * ms}, {What: "class", Name: "b", At: 1100 * ms, Until: 1200 * ms},
			{What: "scheduler", Name: "scheduler-1", At: 1100 * ms, Until: 1200 * ms},
			{What: "scheduler", Name: "scheduler-2", At: 1100 * ms, Until: 1200 * ms}}},
	} {
		for _, policy := range policiesUnderFire {
			t.Run(c.name+"/"+policy, func(t *testing.T) {
				cfg := failing(t, policy, c.faults...)
				endless(t, &cfg)
				rows, result := run(t, cfg)
				if result.Outcomes[cluster.Lost] == 0 || result.Outcomes[cluster.Lost]+result.Finished() != 20 {
					t.Errorf("outcomes %v, want some lost and the rest finished", result.Outcomes)
				}
				explained := false
				for _, r := range rows {
					explained = explained || strings.Contains(r.Reason, c.reason)
					if r.Outcome == cluster.Lost && r.Reason == "" {
						t.Errorf("task %s is lost for no reason", r.TaskID)
					}
				}
				if !explained {
					t.Errorf("nobody says %q", c.reason)
				}
			})
		}
	}
}

// A task that must not run twice ends as lost with the machine that may have started it; a task that may
// is placed again.
func TestAtMostOnce(t *testing.T) {
	for _, once := range []bool{false, true} {
		cfg := bare(t, "random", equal("a", 1, 1), units(3, 0, time.Second))
		cfg.Workload, _ = generator.NewWorkload(units(3, 0, time.Second),
			generator.Options{AtMostOnce: once, Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
		cfg.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: 1500 * ms, Until: 1600 * ms}}
		_, result := run(t, cfg)
		lost := 0
		if once {
			lost = 2 // one that ran, one that waited and might have
		}
		if result.Finished() != 3-lost || result.Outcomes[cluster.Lost] != lost {
			t.Errorf("at most once: %v: outcomes %v, want %d lost", once, result.Outcomes, lost)
		}
	}
}

// The row of a task that was placed again tells of its last placement, and its makespan counts from the
// beginning.
func TestRowOfATaskThatWasPlacedAgain(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 1), units(1, 0, time.Second))
	cfg.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: 500 * ms, Until: 2 * time.Second}}
	rows, _ := run(t, cfg)
	r := rows["0"]
	if r.Attempts != 2 || r.Sent != 0 || r.Received != 0 || r.Enqueued < 2*time.Second || r.Finished-r.Started != time.Second ||
		r.Completed != r.Finished {
		t.Errorf("%+v: want the second execution, of two, and a makespan from 0", r)
	}
}

// A task whose scheduler died with it counts from its first submission, and each submission that a
// scheduler took is an attempt.
func TestRowOfATaskThatWasSubmittedAgain(t *testing.T) {
	for _, schedulers := range []int{1, 2} {
		cfg := bare(t, "random", equal("a", 2, 1), units(1, 0, 3*time.Second))
		cfg.Schedulers = schedulers
		cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: time.Second, Until: 2 * time.Second}}
		rows, _ := run(t, cfg)
		r := rows["0"]
		if r.Attempts != 2 || r.Sent != 0 || r.Received != 0 || r.Completed < 3*time.Second || r.Outcome != cluster.Finished {
			t.Errorf("%d schedulers: %+v, want two attempts and a makespan from 0", schedulers, r)
		}
		if want := fmt.Sprint("scheduler-", schedulers); r.Scheduler != want {
			t.Errorf("%d schedulers: from %s, want %s", schedulers, r.Scheduler, want)
		}
	}
}

// A submission that nobody took is no attempt: the scheduler was not there.
func TestSubmissionsThatNobodyTook(t *testing.T) {
	cfg := bare(t, "random", equal("a", 2, 1), units(4, 10*ms, ms))
	cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: 0, Until: time.Second}}
	cfg.Network.Delay = ms
	rows, result := run(t, cfg)
	for _, r := range rows {
		if r.Attempts != 1 || r.Received < time.Second || r.Outcome != cluster.Finished {
			t.Errorf("%+v, want one attempt, received by the scheduler that returned", r)
		}
	}
	if n := result.Counters.Schedulers["scheduler-1"]["in.submit"]; n != 4 {
		t.Errorf("%d submissions, want four that it took: who is not there counts none", n)
	}
}

// Faults that overlap keep a machine away until the last one is over.
func TestOverlappingFaults(t *testing.T) {
	for _, what := range []string{"worker", "class", "scheduler", "datastore"} {
		name := map[string]string{"worker": "a-1", "class": "a", "scheduler": "scheduler-1"}[what]
		cfg := bare(t, "random", equal("a", 1, 1), []generator.Request{unit(0, 3*time.Second, ms)})
		cfg.Faults = []sim.Fault{{What: "scheduler", Name: "scheduler-1", At: time.Second, Until: 6 * time.Second},
			{What: what, Name: name, At: 2 * time.Second, Until: 9 * time.Second},
			{What: what, Name: name, At: 2500 * ms, Until: 4 * time.Second}}
		if what == "class" {
			cfg.Faults[2].What, cfg.Faults[2].Name = "worker", "a-1"
		}
		rows, _ := run(t, cfg)
		if r := rows["0"]; r.Outcome != cluster.Finished || r.Completed < 9*time.Second || r.Completed > 12*time.Second {
			t.Errorf("%s: %v at %v, want it to run when the last fault is over", what, r.Outcome, r.Completed)
		}
	}
}

// What would fail after the last task changes nothing.
func TestFaultsAfterTheEnd(t *testing.T) {
	calm, stormy := failing(t, "dodoor"), failing(t, "dodoor", sim.Fault{What: "class", Name: "a", At: time.Hour},
		sim.Fault{What: "datastore", At: 2 * time.Hour, Until: 3 * time.Hour})
	endless(t, &stormy)
	want, _ := run(t, calm)
	got, result := run(t, stormy)
	for id, r := range want {
		if got[id] != r {
			t.Errorf("%+v, without the faults %+v", got[id], r)
		}
	}
	if result.Elapsed > time.Minute {
		t.Errorf("the run took %v", result.Elapsed)
	}
}

// A task that only a class could run that is away is refused with the reason, as by the real scheduler.
func TestTheOnlyClassIsAway(t *testing.T) {
	requests := units(2, 20*time.Second, ms)
	requests[1].Demand[cluster.Cores] = 4000
	cfg := bare(t, "dodoor", append(equal("small", 2, 2), equal("large", 1, 4)...), requests)
	cfg.Faults = []sim.Fault{{What: "class", Name: "large", At: time.Second}}
	rows, _ := run(t, cfg)
	if r := rows["1"]; r.Outcome != cluster.Failed || !strings.Contains(r.Reason, "the task needs 4 cores, the largest capacity is 2 cores") {
		t.Errorf("%v: %s", r.Outcome, r.Reason)
	}
}
