package sim_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// The simulator and the real services do the same when something fails: with a network that takes no time and
// the same faults at the same moments, every task is placed as often, ends in the same way on the same worker,
// at the same time, and as many messages are sent.
func TestTheSimulatorConformsUnderFaults(t *testing.T) {
	for name, faults := range weather {
		for _, policy := range baselines.Names() {
			for seed := uint64(1); seed <= 2; seed++ {
				t.Run(fmt.Sprintf("%s/%s, seed %d", name, policy, seed), func(t *testing.T) {
					t.Parallel()
					cfg := failingCluster(t, policy, seed)
					cfg.Faults = faults
					conform(t, cfg)
				})
			}
		}
	}
}

// failingCluster is a run of sixty short tasks on eight nodes of four classes, with three schedulers, at a rate at which
// queues form; beats and bounds are as short as the tasks. A last task arrives when all is over: it waits for what the
// faults have left behind.
func failingCluster(t *testing.T, policy string, seed uint64) sim.Config {
	t.Helper()
	cfg := setup{profile: "paper", policy: policy, trace: "functionbench", qps: 1, n: 101, seed: seed, sets: []string{
		"class.m510.count=3", "class.xl170.count=2", "class.c6525-25g.count=2", "class.c6620.count=1",
		"scheduler.replicas=3", "scheduler.b_delta=3", "datastore.b=12"}}.config(t)
	draw := rand.New(rand.NewPCG(seed, seed))
	requests, at := make([]generator.Request, 61), time.Duration(0)
	for i := range requests {
		if at += time.Duration(1 + draw.IntN(40_000_000)); i == len(requests)-1 {
			at = 3600*time.Millisecond + 1
		}
		requests[i] = generator.Request{ID: fmt.Sprint(seed, "-", i), Type: "simulated", Start: at, Duration: int64(50 + draw.IntN(700)),
			Demand: cluster.Resources{int64(1+draw.IntN(4)) * 1000, 512}}
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Workload, cfg.Warmup, cfg.Emulation.Sigma = w, 0, 0.3
	cfg.Heartbeat, cfg.Store.NodeTimeout, cfg.Replica.RosterGrace = 250*ms, 900*ms, 500*ms
	idle := sim.Station{Handlers: plenty}
	cfg.Network = sim.Network{Scheduler: idle, Data: idle, Worker: idle}
	return cfg
}

// weather is a fault of every kind at every kind of service. Its moments are such that nothing else happens then: the
// order of two timers that go off at the same moment is chance. A worker stalls for less time than its silence is borne,
// as the probes that end with its stream would do so in any order; the data service's troubles last for longer than
// that, and no task arrives while all workers are gone, as several would go to several schedulers in any order. Nothing
// stalls for as long as a call may take: in the simulator, calls have no deadlines.
var weather = func() map[string][]sim.Fault {
	const us = time.Microsecond
	all := map[string][]sim.Fault{}
	for _, f := range []sim.Fault{{What: "worker", Name: "m510-1", At: 614159 * us, Until: 1571828 * us},
		{What: "scheduler", Name: "scheduler-2", At: 614159 * us, Until: 1571828 * us},
		{What: "datastore", At: 804719 * us, Until: 1721828 * us}} {
		for how, verb := range map[string]string{sim.Dies: "restarts", sim.Stalls: "stalls", sim.Refuses: "refuses", sim.Deaf: "is deaf",
			sim.Mute: "is mute", sim.Slow: "is slow"} {
			f := f
			f.How = how
			switch {
			case how == sim.Slow:
				f.Delay = 7123 * us
			case how == sim.Stalls && f.What == "worker":
				f.Until = 1171828 * us
			}
			all[f.What+" "+verb] = []sim.Fault{f}
		}
		f.Until = 0
		all[f.What+" dies"] = []sim.Fault{f}
	}
	all["a class dies"] = []sim.Fault{{What: "class", Name: "xl170", At: 614159 * us}}
	all["everybody restarts"] = []sim.Fault{{What: "class", Name: "m510", At: 614159 * us, Until: 671828 * us},
		{What: "scheduler", Name: "scheduler-1", At: 814159 * us, Until: 871828 * us},
		{What: "datastore", At: 1014159 * us, Until: 1071828 * us},
		{What: "scheduler", Name: "scheduler-3", At: 1114159 * us, Until: 1171828 * us}}
	return all
}()

func conform(t *testing.T, cfg sim.Config) {
	simulated, had := outcome{Rows: map[string]generator.Row{}}, holders{}
	cfg.Row = func(r *generator.Row) error { simulated.Rows[r.TaskID] = *r; return nil }
	cfg.Witness = had
	result, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	simulated.Counters = result.Counters.Schedulers
	compare(t, &cfg, simulated, runRealUnderFaults(t, cfg), had)
}

// holders are the schedulers that may have had a task, by its id: all that were asked to take it and did not refuse.
type holders map[string][]string

func (h holders) Asked(a sim.Asked) {
	if !a.Refused && !slices.Contains(h[a.Task], a.Scheduler) {
		h[a.Task] = append(h[a.Task], a.Scheduler)
	}
}

func (holders) Ran(sim.Ran)           {}
func (holders) Got(sim.Got)           {}
func (holders) Withdrew(sim.Withdrew) {}

// compare reports the first tasks and every counter that differ.
func compare(t *testing.T, cfg *sim.Config, simulated, real outcome, had holders) {
	t.Helper()
	if n := cfg.Workload.Len(); len(simulated.Rows) != n || len(real.Rows) != n {
		t.Fatalf("%d simulated and %d real rows of %d tasks", len(simulated.Rows), len(real.Rows), n)
	}
	differ := 0
	for i := range cfg.Workload.Len() {
		s, r := simulated.Rows[cfg.Workload.ID(i)], real.Rows[cfg.Workload.ID(i)]
		if column := differs(s, r, had[s.TaskID]); column != "" {
			t.Errorf("task %d: its %s differs (schedulers that had it: %v)\nsimulated %+v\nreal      %+v", i, column, had[s.TaskID], s, r)
			if differ++; differ > 2 {
				break
			}
		}
	}
	for _, name := range []string{"in.submit", "out.delta", "in.push", "out.probe", "out.enqueue", "out.cancel", "in.complete"} {
		for scheduler, counts := range real.Counters {
			if simulated.Counters[scheduler][name] != counts[name] {
				t.Errorf("%s of %s: %d simulated, %d real", name, scheduler, simulated.Counters[scheduler][name], counts[name])
			}
		}
	}
}

// wire is by how much an instant of a row may differ: each is a sum of up to four times that crossed the wire, which
// cuts them to microseconds.
const wire = 4 * time.Microsecond

// differs names the first column in which two rows of a task differ; empty: none. All of them are compared, with two exceptions:
//   - a task that several schedulers have at one worker ends at all of them in the same moment, and the client takes the record that it
//     reads first, from any of their connections. The record says whose it is, and how old the view was by which that one placed it: only
//     these two columns may then be another holder's;
//   - a task that ended without a record has the client's own words for why, and only they may differ: one speaks of a simulated
//     connection, the other of a real one.
func differs(s, r generator.Row, had []string) string {
	if len(had) > 1 && slices.Contains(had, r.Scheduler) {
		r.Scheduler, r.ViewDecisions = s.Scheduler, s.ViewDecisions
	}
	if s.Completed == generator.Never && s.Reason != "" && r.Reason != "" {
		r.Reason = s.Reason
	}
	simulated, real := reflect.ValueOf(s), reflect.ValueOf(r)
	for i := range simulated.NumField() {
		a, b := simulated.Field(i).Interface(), real.Field(i).Interface()
		if at, instant := a.(time.Duration); instant {
			if off := at - b.(time.Duration); off >= -wire && off <= wire {
				continue
			}
		}
		if a != b {
			return simulated.Type().Field(i).Name
		}
	}
	return ""
}

// drawn is up to three faults of any kind, at moments that nothing else shares.
func drawn(cfg *sim.Config, seed uint64) []sim.Fault {
	draw := rand.New(rand.NewPCG(seed, 7))
	faults := make([]sim.Fault, 1+draw.IntN(3))
	for i := range faults {
		f := &faults[i]
		f.What = []string{"worker", "worker", "scheduler", "datastore"}[draw.IntN(4)]
		switch f.What {
		case "worker":
			f.Name = cfg.Nodes[draw.IntN(len(cfg.Nodes))].Name
		case "scheduler":
			f.Name = schedulerName(draw.IntN(cfg.Schedulers))
		}
		f.How = []string{sim.Dies, sim.Dies, sim.Stalls, sim.Refuses, sim.Deaf, sim.Mute, sim.Slow}[draw.IntN(7)]
		if f.How == sim.Slow {
			f.Delay = time.Duration(1 + draw.IntN(10_000_000))
		}
		f.At = time.Duration(1 + draw.IntN(1_400_000_000))
		f.Until = f.At + time.Duration(1+draw.IntN(500_000_000))
	}
	return faults
}

// The same under faults that chance has chosen, for the policies that do not probe: the probes that end with a worker's
// stream do so in any order, and the next placements follow it. (Nor is it told which of two schedulers hears first of a
// task that both hold: a seed that draws this would tell nothing.)
func TestTheSimulatorConformsUnderDrawnFaults(t *testing.T) {
	policies := slices.DeleteFunc(baselines.Names(), func(name string) bool { return name == "pot" || name == "prequal" || name == "yarp" })
	for seed := uint64(1); seed <= 24; seed++ {
		policy := policies[int(seed)%len(policies)]
		t.Run(fmt.Sprintf("%s, seed %d", policy, seed), func(t *testing.T) {
			t.Parallel()
			cfg := failingCluster(t, policy, seed)
			cfg.Faults = drawn(&cfg, seed)
			conform(t, cfg)
		})
	}
}
