package sim_test

import (
	"fmt"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/generator"
	"dodoor/sim"
)

// The simulator and the real services make the same decisions: with a network that takes no time, every
// task goes to the same worker, waits and runs equally long, and as many messages are sent.
func TestTheSimulatorConformsToTheServices(t *testing.T) {
	for _, policy := range baselines.Names() {
		for seed := uint64(1); seed <= 2; seed++ {
			t.Run(fmt.Sprintf("%s, seed %d", policy, seed), func(t *testing.T) {
				cfg := smallCluster(t, policy, seed)
				idle := sim.Station{Handlers: 1000}
				cfg.Network = sim.Network{Scheduler: idle, Data: idle, Worker: idle}
				simulated := map[string]generator.Row{}
				cfg.Row = func(r *generator.Row) error { simulated[r.TaskID] = *r; return nil }
				result, err := sim.Run(cfg)
				if err != nil {
					t.Fatal(err)
				}
				real := runReal(t, cfg)
				if len(real.Records) != cfg.Workload.Len() || len(simulated) != cfg.Workload.Len() {
					t.Fatalf("%d real and %d simulated results of %d tasks", len(real.Records), len(simulated), cfg.Workload.Len())
				}
				for i := range cfg.Workload.Len() {
					r, s := real.Records[cfg.Workload.ID(i)], simulated[cfg.Workload.ID(i)]
					wait, run := onTheWire(s.Started-s.Enqueued), onTheWire(s.Finished-s.Started)
					if s.Worker != r.Worker || wait != r.Wait || run != r.Run {
						t.Fatalf("task %d: simulated on %s, waits %v, runs %v; really on %s, %v, %v", i, s.Worker, wait, run, r.Worker, r.Wait, r.Run)
					}
				}
				compareCounters(t, policy, result.Counters, real.Counters)
			})
		}
	}
}

// onTheWire is a time as it crosses the wire.
func onTheWire(d time.Duration) time.Duration { return d.Truncate(time.Microsecond) }

func compareCounters(t *testing.T, policy string, simulated, real generator.Counters) {
	t.Helper()
	for _, name := range []string{"in.submit", "out.delta", "in.push", "out.probe", "out.enqueue", "in.complete"} {
		if policy == "yarp" && name == "out.probe" {
			continue // the poll at the very start falls before the real services' counters are read
		}
		for scheduler, counts := range real.Schedulers {
			if simulated.Schedulers[scheduler][name] != counts[name] {
				t.Errorf("%s of %s: %d simulated, %d real", name, scheduler, simulated.Schedulers[scheduler][name], counts[name])
			}
		}
	}
}
