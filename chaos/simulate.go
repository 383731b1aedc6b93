package chaos

import (
	"fmt"
	"strings"
	"time"

	"dodoor/baselines"
	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
	"dodoor/worker"
)

// Simulate carries a scenario out in the simulator, and returns what happened. What its own audit of the machines finds is in it as
// well: as something that is left.
func Simulate(s Scenario) (History, error) {
	cfg, err := simulation(&s)
	if err != nil {
		return nil, fmt.Errorf("scenario of seed %d: %w", s.Seed, err)
	}
	w := &witness{history: History{{Kind: Began, Scenario: &s}}}
	cfg.Witness = w
	calls := 0
	cfg.Progress = func(int) bool { calls++; return calls < mostCalls }
	result, err := sim.Run(cfg)
	if err == nil && result.Stopped {
		err = fmt.Errorf("it does not end: after %v the run was stopped", result.Elapsed)
	}
	if err != nil {
		w.history = append(w.history, Record{Kind: Left, At: result.Elapsed, Reason: err.Error()})
	}
	return w.history, nil
}

// mostCalls ends a run that goes on without end: some ten million events.
const mostCalls = 300

// simulation is a scenario as the simulator takes it. Services notice sooner than by default what is wrong, so that little time is
// enough for much to happen.
func simulation(s *Scenario) (sim.Config, error) {
	requests := make([]generator.Request, len(s.Tasks))
	fates := make(map[string]sim.Fate, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		requests[i] = generator.Request{ID: t.ID, Type: taskType, Start: t.At, Duration: t.Takes.Milliseconds(),
			Demand: cluster.Resources{cluster.Cores: t.Cores, cluster.Memory: t.Memory}}
		fates[t.ID] = sim.Fate{AtMostOnce: t.AtMostOnce, Exit: t.Exit, Withdrawn: t.Withdrawn}
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		return sim.Config{}, err
	}
	station := sim.Station{Cost: 200 * time.Microsecond, Handlers: 8}
	cfg := sim.Config{
		Workload: w, Schedulers: s.Schedulers, Policy: s.Policy, Knobs: baselines.Defaults(), Faults: s.Faults,
		Fate: func(id string) sim.Fate { return fates[id] }, Clients: clients(s),
		Replica: scheduler.Config{Seed: s.Seed, DeltaBatch: 4, MaxStaleness: 100 * time.Millisecond, MaxAttempts: 1000,
			ReplaceTimeout: s.Quiet, RosterGrace: time.Second, MaxPending: 1 << 20, RetainResults: 1 << 14, RetainFor: time.Hour,
			Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: taskType}}, Keeps: s.Shape.Journal},
		Store:  datastore.Config{Batch: 16, MaxStaleness: 100 * time.Millisecond, NodeTimeout: time.Second},
		Limits: worker.DefaultLimits(), MaxBatch: 8, NodeGrace: 500 * time.Millisecond, Heartbeat: 200 * time.Millisecond,
		Patience: s.Shape.Span + s.Quiet,
		Network:  sim.Network{Delay: 500 * time.Microsecond, Scheduler: station, Data: station, Worker: station},
	}
	cfg.Limits.TimeoutFactor = 0 // a task that is slow is slow
	for i := range s.Workers {
		n := &s.Workers[i]
		cfg.Nodes = append(cfg.Nodes, cluster.Node{Name: n.Name, Class: n.Class, Slots: n.Slots,
			Capacity: cluster.Resources{cluster.Cores: n.Cores, cluster.Memory: n.Memory}})
	}
	return cfg, nil
}

const taskType = "simulated"

// clients are those of a scenario, each with its tasks.
func clients(s *Scenario) []sim.Client {
	all := make([]sim.Client, len(s.Clients))
	for i := range s.Clients {
		all[i] = sim.Client{Name: s.Clients[i].Name, Trusts: !s.Clients[i].Resubmits, Tasks: []int32{}}
		for j := range s.Tasks {
			if s.Tasks[j].Client == s.Clients[i].Name {
				all[i].Tasks = append(all[i].Tasks, int32(j))
			}
		}
	}
	return all
}

// witness writes the history of a simulated run.
type witness struct{ history History }

func (w *witness) Asked(a sim.Asked) {
	answer := Unknown
	switch {
	case a.Accepted:
		answer = Accepted
	case a.Refused:
		answer = Refused
	}
	w.history = append(w.history, Record{Kind: Submitted, At: a.At, Client: a.Client, Task: a.Task, Scheduler: a.Scheduler, Answer: answer})
}

func (w *witness) Ran(r sim.Ran) {
	w.history = append(w.history, Record{Kind: Executed, At: r.End, Task: r.Task, Worker: r.Worker, Process: r.Process, Place: r.Place,
		Attempt: r.Attempt, Start: r.Start, End: r.End, Outcome: r.Outcome.String(), Exit: r.Exit})
}

func (w *witness) Got(g sim.Got) {
	if g.Record == nil {
		w.history = append(w.history, Record{Kind: Missed, At: g.At, Client: g.Client, Task: g.Task, Reason: g.Reason})
		return
	}
	r := g.Record
	w.history = append(w.history, Record{Kind: Collected, At: g.At, Client: g.Client, Task: g.Task, Scheduler: r.Scheduler,
		Worker: r.Worker, Outcome: r.Outcome.String(), Exit: r.ExitCode, Reason: strings.Clone(r.Reason), Attempts: r.Attempts,
		Wait: r.Wait, Run: r.Run, Makespan: r.Makespan})
}

func (w *witness) Withdrew(a sim.Withdrew) {
	answer := Unknown
	switch {
	case a.Found:
		answer = Accepted
	case a.Answered:
		answer = Refused
	}
	w.history = append(w.history, Record{Kind: Withdrawn, At: a.At, Client: a.Client, Task: a.Task, Scheduler: a.Scheduler, Answer: answer})
}
