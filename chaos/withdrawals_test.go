package chaos_test

import (
	"strings"
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// withdrawn is a good history whose first task is withdrawn at 50 ms, which scheduler-1 promises a millisecond later, and which ends so.
func withdrawn() chaos.History {
	const ms = time.Millisecond
	h := good()
	h[0].Scenario.Tasks[0].Withdrawn = 50 * ms
	ran, got := &h[at(1, executed)], &h[at(1, collected)]
	ran.Start, ran.End, ran.Outcome = 20*ms, 52*ms, cluster.Cancelled.String()
	got.Outcome, got.Run, got.Wait = cluster.Cancelled.String(), 32*ms, 10*ms
	asked := chaos.Record{Kind: chaos.Withdrawn, At: 50 * ms, Client: "a", Task: "1", Scheduler: "scheduler-1", Answer: chaos.Unknown}
	answered := asked
	answered.At, answered.Answer = 51*ms, chaos.Accepted
	return append(h, asked, answered)
}

// A task that is withdrawn ends as cancelled, or as whatever it had reached; nobody else's does, and it does not run on.
func TestWithdrawals(t *testing.T) {
	asked := len(withdrawn()) - 2
	runsOn := func(h chaos.History) chaos.History {
		h[at(1, executed)].End = 3 * time.Second
		h[0].Scenario.Workers[0].Cores, h[0].Scenario.Workers[0].Slots = 4000, 4 // there is room for the others beside it
		return h
	}
	for name, c := range map[string]struct {
		change func(chaos.History) chaos.History
		want   string // empty: nothing is wrong
	}{
		"as asked": {func(h chaos.History) chaos.History { return h }, ""},
		"it had ended before": {func(h chaos.History) chaos.History {
			good := good()
			h[at(1, executed)], h[at(1, collected)] = good[at(1, executed)], good[at(1, collected)]
			return h
		}, ""},
		"no answer": {func(h chaos.History) chaos.History { return h[:asked+1] }, ""},
		"another was asked": {func(h chaos.History) chaos.History {
			h[asked].Scheduler, h[asked+1].Scheduler = "scheduler-2", "scheduler-2"
			return h
		}, "cancelled by request: task 1: scheduler-1 tells that it was cancelled (), and nobody had asked it"},
		"asked later": {func(h chaos.History) chaos.History {
			h[asked].At = 2 * time.Second
			return h[:asked+1]
		}, "cancelled by request: task 1: scheduler-1 tells that it was cancelled (), and nobody had asked it"},
		"not in the scenario": {func(h chaos.History) chaos.History {
			h[0].Scenario.Tasks[0].Withdrawn = 0
			return h
		}, "cancelled by request: task 1: its client asked for its end, which the scenario does not have"},
		"it runs on": {runsOn, "requests are heeded: task 1: scheduler-1 promised at 51ms to end it, nothing had gone wrong, and it ran on "},
		"it runs on, and something had gone wrong": {func(h chaos.History) chaos.History {
			return struck(runsOn(h), sim.FaultWorker, "small-1")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := chaos.Check(c.change(withdrawn()))
			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), c.want)) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

// In the simulator tasks that are withdrawn end as cancelled now and then, and as finished as well.
func TestWithdrawalsHappen(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(20) {
		s := chaos.Plan(seed, chaos.Small())
		h, err := chaos.Simulate(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Tasks {
			if s.Tasks[i].Withdrawn == 0 {
				continue
			}
			for _, r := range h.About(s.Tasks[i].ID) {
				if r.Kind == chaos.Collected {
					outcomes[r.Outcome]++
				}
			}
		}
	}
	if outcomes[cluster.Cancelled.String()] < 20 || outcomes[cluster.Finished.String()] < 20 {
		t.Errorf("tasks that were withdrawn ended as %v", outcomes)
	}
}
