package chaos_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// good is a small history that breaks no rule: one worker with two slots, three tasks, the last of which must not run twice.
func good() chaos.History {
	const ms = time.Millisecond
	s := &chaos.Scenario{Schedulers: 2, Shape: chaos.Shape{Journal: true},
		Workers: []chaos.Worker{{Name: "small-1", Class: "small", Slots: 2, Cores: 2000, Memory: 1024}},
		Clients: []chaos.Client{{Name: "a", Resubmits: true}, {Name: "b"}},
		Tasks: []chaos.Task{{ID: "1", Client: "a", Takes: 10 * ms, Cores: 1000, Memory: 512}, {ID: "2", Client: "b", Takes: 10 * ms, Cores: 2000,
			Memory: 512, Exit: 2}, {ID: "3", Client: "b", Takes: 10 * ms, Cores: 1000, Memory: 512, AtMostOnce: true}}}
	h := chaos.History{{Kind: chaos.Began, Scenario: s}}
	for i, id := range []string{"1", "2", "3"} {
		outcome, exit, start := cluster.Finished, 0, time.Duration(i+1)*100*ms
		if id == "2" {
			outcome, exit = cluster.Failed, 2
		}
		h = append(h, chaos.Record{Kind: chaos.Submitted, At: 10 * ms, Client: s.Tasks[i].Client, Task: id, Scheduler: "scheduler-1",
			Answer: chaos.Accepted},
			chaos.Record{Kind: chaos.Executed, Task: id, Worker: "small-1", Process: 1, Place: int64(i + 1), Attempt: 1, Start: start,
				End: start + 10*ms, Outcome: outcome.String(), Exit: exit},
			chaos.Record{Kind: chaos.Collected, At: time.Second, Client: s.Tasks[i].Client, Task: id, Scheduler: "scheduler-1", Worker: "small-1",
				Outcome: outcome.String(), Exit: exit, Attempts: 1, Wait: 90 * ms, Run: 10 * ms, Makespan: 101 * ms})
	}
	return h
}

// Where the records of a task are in a good history.
const (
	submitted = iota + 1
	executed
	collected
)

func at(task, what int) int { return 3*(task-1) + what }

func TestAGoodHistoryBreaksNoRule(t *testing.T) {
	if found := chaos.Check(good()); len(found) > 0 {
		t.Error(found)
	}
}

// struck is the history with a fault: a service that died.
func struck(h chaos.History, what, name string) chaos.History {
	h[0].Scenario.Faults = append(h[0].Scenario.Faults, sim.Fault{What: what, Name: name, Until: time.Second})
	return h
}

// Each rule notices what it is there for, and no other complains.
func TestABrokenHistoryIsNoticed(t *testing.T) {
	const ms = time.Millisecond
	without := func(i int) func(chaos.History) chaos.History {
		return func(h chaos.History) chaos.History { return slices.Delete(h, i, i+1) }
	}
	change := func(i int, to func(*chaos.Record)) func(chaos.History) chaos.History {
		return func(h chaos.History) chaos.History { to(&h[i]); return h }
	}
	add := func(i int, to func(*chaos.Record)) func(chaos.History) chaos.History {
		return func(h chaos.History) chaos.History {
			extra := h[i]
			to(&extra)
			return append(h, extra)
		}
	}
	for _, c := range []struct {
		name   string
		breaks func(chaos.History) chaos.History
		want   string
	}{
		{"a task nobody submitted", add(at(1, executed), func(r *chaos.Record) { r.Task = "4" }),
			"every name is known: task 4: the scenario has no such task"},
		{"a worker nobody started", func(h chaos.History) chaos.History {
			stray := h[at(1, executed)]
			stray.Worker = "small-9"
			return append(struck(h, sim.FaultWorker, "small-1"), stray)
		},
			`every name is known: task 1: it ran on "small-9", which the scenario does not have`},

		{"two ends", add(at(1, collected), func(r *chaos.Record) { r.Outcome, r.Reason = "timed-out", "too slow" }),
			"one terminal state: task 1: scheduler-1 told of two ends: finished, then timed-out"},
		{"an end by somebody who was not asked", change(at(1, collected), func(r *chaos.Record) { r.Scheduler = "scheduler-2" }),
			"one terminal state: task 1: scheduler-2 told of its end, and never was asked"},
		{"no end", change(at(1, collected), func(r *chaos.Record) { r.Outcome = "soon" }),
			`one terminal state: task 1: "soon" is no terminal state`},

		{"a result that never came", without(at(2, collected)),
			"nothing accepted is lost: task 2: it was accepted, and nobody ever told how it ended"},
		{"a result that is waited for no more", change(at(2, collected), func(r *chaos.Record) { r.Kind, r.Reason = chaos.Missed, "forgotten" }),
			"nothing accepted is lost: task 2: it was accepted, and its client was told: forgotten"},

		{"forgotten by a scheduler that never ended", func(h chaos.History) chaos.History {
			h[0].Scenario.Shape.Journal = false
			h[at(2, collected)].Kind, h[at(2, collected)].Reason = chaos.Missed, "forgotten"
			return struck(h, sim.FaultScheduler, "scheduler-2")
		}, "nothing accepted is lost: task 2: it was accepted, no scheduler that had it ended, and its client was told: forgotten"},

		{"refused though nothing went wrong", func(h chaos.History) chaos.History {
			h[at(2, submitted)].Answer, h[at(2, collected)].Kind, h[at(2, collected)].Reason = chaos.Refused, chaos.Missed, "full"
			return slices.Delete(h, at(2, executed), at(2, executed)+1)
		}, "every task is told of: task 2: nothing had gone wrong, and its client gave up: full"},
		{"an unknown answer, and then nothing", func(h chaos.History) chaos.History {
			h[at(2, submitted)].Answer = chaos.Unknown
			return slices.Delete(h, at(2, executed), at(2, collected)+1)
		}, "every task is told of: task 2: its client neither got a result nor gave up"},
		{"given up without a reason", func(h chaos.History) chaos.History {
			h[at(2, submitted)].Answer, h[at(2, collected)].Kind = chaos.Unknown, chaos.Missed
			return struck(h, sim.FaultWorker, "small-1")
		}, "every task is told of: task 2: its client gave up, and does not say why"},

		{"cancelled by nobody", change(at(1, collected), func(r *chaos.Record) { r.Outcome, r.Reason = "cancelled", "somebody did" }),
			"cancelled by request: task 1: scheduler-1 tells that it was cancelled (somebody did), and nobody had asked it for that"},
		{"again for no reason", add(at(1, executed), func(r *chaos.Record) { r.Process = 2 }),
			"no work without a reason: task 1: it ran 2 times, and nothing had gone wrong"},
		{"placed for no reason", change(at(1, collected), func(r *chaos.Record) { r.Attempts = 9 }),
			"no work without a reason: task 1: scheduler-1 placed it 9 times, for 1 executions and 0 faults"},

		{"lost, and it could have run again", change(at(1, collected), func(r *chaos.Record) { r.Outcome, r.Reason = "lost", "worker died" }),
			"lost with a reason: task 1: it is lost (worker died), but could have run again"},
		{"lost without a reason", change(at(3, collected), func(r *chaos.Record) { r.Outcome = "lost" }),
			"lost with a reason: task 3: it is lost, and nobody says why"},
		{"lost before it may have started", func(h chaos.History) chaos.History {
			h[at(3, collected)].Outcome, h[at(3, collected)].Reason, h[at(3, collected)].Worker = "lost", "bad luck", ""
			return slices.Delete(h, at(3, executed), at(3, executed)+1)
		}, "lost with a reason: task 3: it is lost (bad luck), and never was at a worker"},

		{"lost though only the data service failed", func(h chaos.History) chaos.History {
			h[at(3, collected)].Outcome, h[at(3, collected)].Reason = "lost", "worker died"
			return struck(h, sim.FaultDatastore, "")
		}, "lost with a reason: task 3: it is lost (worker died), and no worker or scheduler had ended or was cut off"},

		{"twice", add(at(3, executed), func(r *chaos.Record) { r.Start, r.End, r.Process, r.Outcome = 400*ms, 0, 2, "" }),
			"at most once: task 3: it must run at most once, and began 2 times: on small-1 at 300ms, on small-1 at 400ms"},

		{"overtaken", change(at(1, executed), func(r *chaos.Record) { r.Place = 4 }),
			"first come, first served: task 1: it started on small-1 (process 1) at 100ms, and task 3, which had come before it, at 300ms"},
		{"too many cores", change(at(1, executed), func(r *chaos.Record) { r.End, r.Start = 205*ms, 195*ms }),
			"capacity: task 2: when it started on small-1 (process 1) at 200ms, 2 tasks with 3000 millicores and 1024 MiB ran there"},

		{"too many for two processes of one machine", change(at(1, executed), func(r *chaos.Record) {
			r.End, r.Start, r.Process = 205*ms, 195*ms, 2
		}), "capacity: task 2: when it started on small-1 (process 1) at 200ms, 2 tasks with 3000 millicores"},

		{"failed for no reason", change(at(1, collected), func(r *chaos.Record) { r.Outcome, r.Worker = "failed", "" }), "nobody says why"},
		{"failed though it ran", change(at(1, collected), func(r *chaos.Record) {
			r.Outcome, r.Worker, r.Reason = "failed", "", "no worker"
		}), "it ran, and nothing had gone wrong"},
		{"longer than the run", change(at(1, collected), func(r *chaos.Record) { r.Makespan = time.Hour }), "longer than its client waited"},
		{"a result of nothing", without(at(1, executed)),
			`every record is true: task 1: scheduler-1 tells that it finished on "small-1"`},
		{"another worker", change(at(1, collected), func(r *chaos.Record) { r.Worker = "small-2" }), "no execution there ended so"},
		{"another exit code", change(at(2, collected), func(r *chaos.Record) { r.Exit = 3 }), "no execution there ended so"},
		{"finished with a code", func(h chaos.History) chaos.History {
			h[at(2, executed)].Outcome, h[at(2, collected)].Outcome = "finished", "finished"
			return h
		}, "outcome and exit code do not agree"},
		{"the wrong code", func(h chaos.History) chaos.History {
			h[at(2, executed)].Exit, h[at(2, collected)].Exit = 1, 1
			return h
		}, "it ends with another exit code"},
		{"another time", change(at(1, collected), func(r *chaos.Record) { r.Run = 12 * ms }), "no execution there ended so"},
		{"no attempt", change(at(1, collected), func(r *chaos.Record) { r.Attempts = 0 }), "it ran without an attempt"},
		{"shorter than its parts", change(at(1, collected), func(r *chaos.Record) { r.Makespan = 99 * ms }), "it took less than its parts"},

		{"a task that somebody keeps", add(at(1, collected), func(r *chaos.Record) {
			*r = chaos.Record{Kind: chaos.Left, Task: "1", Scheduler: "scheduler-2"}
		}), "quiet in the end: task 1: scheduler-2 still holds it"},
		{"a load that somebody books", add(at(1, collected), func(r *chaos.Record) {
			*r = chaos.Record{Kind: chaos.Left, Worker: "small-1", Of: "datastore", Load: &cluster.Load{Tasks: 1}}
		}), "quiet in the end: datastore still books"},
		{"tasks that somebody counts", add(at(1, collected), func(r *chaos.Record) {
			*r = chaos.Record{Kind: chaos.Left, Scheduler: "scheduler-1", Pending: 2}
		}), "quiet in the end: scheduler-1 still holds 2 tasks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := chaos.Check(c.breaks(good()))
			if len(found) != 1 || !strings.Contains(found[0].String(), c.want) {
				t.Errorf("found %q, want one: %s", found, c.want)
			}
		})
	}
}

// What is allowed although it looks odd.
func TestWhatIsNoViolation(t *testing.T) {
	for name, change := range map[string]func(chaos.History) chaos.History{
		"a client that resubmits had it run twice": func(h chaos.History) chaos.History {
			again, run := h[at(1, submitted)], h[at(1, executed)]
			again.Scheduler, run.Process = "scheduler-2", 2
			return append(h, again, run)
		},
		"without a journal a scheduler that dies forgets": func(h chaos.History) chaos.History {
			h[0].Scenario.Shape.Journal = false
			h[at(2, collected)].Kind, h[at(2, collected)].Reason = chaos.Missed, "forgotten"
			return struck(h, sim.FaultScheduler, "scheduler-1")
		},
		"a submission that a fault has cost, and its client says so": func(h chaos.History) chaos.History {
			h[at(2, submitted)].Answer, h[at(2, collected)].Kind, h[at(2, collected)].Reason = chaos.Unknown, chaos.Missed, "no answer"
			return struck(slices.Delete(h, at(2, executed), at(2, executed)+1), sim.FaultDatastore, "")
		},
		"lost with the worker that died": func(h chaos.History) chaos.History {
			h[at(3, collected)].Outcome, h[at(3, collected)].Reason = "lost", "its worker died"
			return struck(h, sim.FaultWorker, "small-1")
		},
		"an execution ends with its process, and another begins": func(h chaos.History) chaos.History {
			died := h[at(1, executed)]
			died.Start, died.End, died.Outcome, died.Process = 1, 0, "", 0
			return append(struck(h, sim.FaultWorker, "small-1"), died)
		},
		"a worker hears of an end a little late": func(h chaos.History) chaos.History {
			h[0].Slack = 20 * time.Millisecond
			h[at(1, executed)].End -= 5 * time.Millisecond
			return h
		},
	} {
		t.Run(name, func(t *testing.T) {
			if found := chaos.Check(change(good())); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

// A history is read as it was written.
func TestAHistoryIsKept(t *testing.T) {
	h, err := chaos.Simulate(chaos.Plan(1, chaos.Small()))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := h.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := chaos.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(h, back) {
		t.Error("another history came back")
	}
}

func TestABrokenFileIsNoHistory(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "does not begin with its scenario",
		`{"kind":"submitted"}`:   "does not begin with its scenario",
		`{"kind":"scenario"`:     "record 1 of the history: unexpected EOF",
		`{"kind":"scenario"} no`: "record 2 of the history: invalid character",
	} {
		if _, err := chaos.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
