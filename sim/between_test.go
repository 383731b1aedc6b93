package sim_test

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/sim"
)

// Faults of the network, of disks and of clocks, and restarts: what they do to tasks that may run again is to delay them.
func TestFaultsDelayTasks(t *testing.T) {
	const from, to = 1500 * time.Millisecond, 4500 * time.Millisecond
	network := func(how string, between, and []string) sim.Fault {
		return sim.Fault{What: sim.FaultNetwork, How: how, Between: between, And: and, At: from, Until: to}
	}
	both := []string{"a-1", "a-2"}
	half := func(f sim.Fault) sim.Fault { f.Share = 0.5; return f }
	oneWay := func(f sim.Fault) sim.Fault { f.OneWay = true; return f }
	for name, fault := range map[string]sim.Fault{
		"a worker on an island":              network(sim.Parts, []string{"a-1"}, []string{"a-2", "scheduler-1", "datastore", "clients"}),
		"a scheduler without workers":        network(sim.Parts, []string{"scheduler-1"}, both),
		"workers that cannot answer":         oneWay(network(sim.Parts, both, []string{"scheduler-1"})),
		"workers that hear nothing":          oneWay(network(sim.Parts, []string{"scheduler-1"}, both)),
		"a scheduler without clients":        network(sim.Parts, []string{"scheduler-1"}, []string{"clients"}),
		"a data service that nobody reaches": network(sim.Parts, []string{"datastore"}, []string{"scheduler-1", "a-1", "a-2"}),
		"half of what is sent is lost":       half(network(sim.Drops, []string{"scheduler-1"}, []string{"a-1", "a-2", "clients", "datastore"})),
		"half of what is sent comes twice":   half(network(sim.Duplicates, []string{"scheduler-1", "datastore"}, both)),
		"a worker restarts":                  {What: sim.FaultWorker, Name: "a-1", How: sim.Restarts, At: from, Until: to},
		"a scheduler restarts":               {What: sim.FaultScheduler, Name: "scheduler-1", How: sim.Restarts, At: from, Until: to},
		"a data service is upgraded":         {What: sim.FaultDatastore, How: sim.Upgrades, At: from, Until: to},
		"a full disk":                        {What: sim.FaultScheduler, Name: "scheduler-1", How: sim.Full, At: from, Until: to},
		"a clock that goes back": {What: sim.FaultScheduler, Name: "scheduler-1", How: sim.Clock, Step: -time.Hour, At: from,
			Until: to},
	} {
		for _, keeps := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", with a journal"}[keeps], func(t *testing.T) {
				cfg := bare(t, "random", equal("a", 2, 2), units(40, 200*time.Millisecond, 500*time.Millisecond))
				cfg.Faults, cfg.Patience, cfg.Replica.Keeps, cfg.Replica.MaxAttempts = []sim.Fault{fault}, time.Minute, keeps, 100
				cfg.Clients = []sim.Client{{Name: "one", Tasks: numbers(0, 20)}, {Name: "too", Tasks: numbers(20, 40)}}
				rows, _ := run(t, cfg)
				for id, row := range rows {
					if row.Outcome != cluster.Finished {
						t.Errorf("task %s: %v (%s)", id, row.Outcome, row.Reason)
					}
				}
			})
		}
	}
}

func numbers(from, to int32) (all []int32) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// A scheduler with a journal that dies loses nothing of what it had accepted, even for a client that never submits again, and no task runs
// twice that ran already.
func TestASchedulerWithAJournalGoesOn(t *testing.T) {
	cfg := bare(t, "random", equal("a", 2, 2), units(40, 50*time.Millisecond, 500*time.Millisecond))
	cfg.Replica.Keeps = true
	cfg.Clients = []sim.Client{{Name: "trusts", Trusts: true}}
	cfg.Fate = func(task string) sim.Fate { return sim.Fate{AtMostOnce: true} }
	cfg.Faults = []sim.Fault{{What: sim.FaultScheduler, Name: "scheduler-1", At: time.Second, Until: 3 * time.Second}}
	ran := map[string]int{}
	cfg.Witness = witness(func(r sim.Ran) { ran[r.Task]++ })
	rows, _ := run(t, cfg)
	for id, row := range rows {
		if row.Outcome != cluster.Finished || ran[id] != 1 {
			t.Errorf("task %s: %v (%s), and ran %d times", id, row.Outcome, row.Reason, ran[id])
		}
	}
}

// witness sees executions alone.
type witness func(sim.Ran)

func (w witness) Asked(sim.Asked) {}
func (w witness) Ran(r sim.Ran)   { w(r) }
func (w witness) Got(sim.Got)     {}

func (w witness) Withdrew(sim.Withdrew) {}

// A task ends with the code that it is given.
func TestATaskFails(t *testing.T) {
	cfg := bare(t, "random", equal("a", 1, 2), units(3, 0, time.Second))
	cfg.Fate = func(task string) sim.Fate { return map[string]sim.Fate{"1": {Exit: 7}}[task] }
	rows, _ := run(t, cfg)
	for id, row := range rows {
		if want := map[string]int{"1": 7}[id]; row.ExitCode != want || (row.Outcome == cluster.Failed) != (want != 0) {
			t.Errorf("task %s: %v with exit code %d", id, row.Outcome, row.ExitCode)
		}
	}
}

// Each client gets its own results.
func TestSeveralClients(t *testing.T) {
	cfg := bare(t, "random", equal("a", 2, 2), units(20, 10*time.Millisecond, 100*time.Millisecond))
	cfg.Schedulers = 2
	cfg.Clients = []sim.Client{{Name: "x", Tasks: numbers(0, 5)}, {Name: "y", Tasks: numbers(5, 20)}}
	rows, _ := run(t, cfg)
	for i := range 20 {
		if row := rows[cfg.Workload.ID(i)]; row.Outcome != cluster.Finished {
			t.Errorf("task %d: %v (%s)", i, row.Outcome, row.Reason)
		}
	}
}
