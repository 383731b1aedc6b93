package sim_test

import (
	"fmt"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/sim"
)

// control is the number of control messages: those that a scheduler sends or receives to decide.
func control(r *sim.Result) (total int64) {
	for _, counts := range r.Counters.Schedulers {
		total += counts["in.submit"] + counts["out.probe"] + counts["out.delta"] + counts["in.push"]
	}
	return total
}

// The message budgets of the paper's policies (Sec. 3.1 and 6.1), exactly: one submission, two probes with
// power-of-two, three with Prequal; with Dodoor one flush for every b_Δ placements of a scheduler and, for
// every b decisions, one push to each scheduler. What does not fill a batch sends nothing.
func TestPaperMessagesPerTask(t *testing.T) {
	for _, n := range []int{4000, 403, 37} {
		for _, b := range []struct{ batch, mini, schedulers int }{{100, 8, 5}, {50, 4, 5}, {100, 1, 1}, {7, 3, 2}} {
			for _, policy := range append(baselines.Names(), sim.Oracle) {
				if n == 4000 && (b.schedulers != 5 || policy != "dodoor") {
					continue
				}
				cfg := bare(t, policy, equal("a", 20, 8), units(n, 25*ms, time.Second))
				cfg.Schedulers, cfg.Store.Batch, cfg.Replica.DeltaBatch = b.schedulers, int64(b.batch), b.mini
				cfg.Network = sim.Network{Delay: 100 * time.Microsecond, Scheduler: sim.Station{Cost: 200 * time.Microsecond, Handlers: 8},
					Data: sim.Station{Cost: 200 * time.Microsecond, Handlers: 8}, Worker: sim.Station{Cost: 200 * time.Microsecond, Handlers: 16}}
				var want int
				switch policy {
				case "random", sim.Oracle:
					want = n
				case "pot":
					want = 3 * n
				case "prequal":
					want = 4 * n
				case "yarp":
					continue // a poll of everybody per period, whatever the number of tasks
				default:
					flushes := 0
					for i := range b.schedulers {
						own := (n + b.schedulers - 1 - i) / b.schedulers // tasks in turn
						flushes += own / b.mini
					}
					want = n + flushes + b.schedulers*(flushes*b.mini/b.batch)
				}
				t.Run(fmt.Sprint(policy, " ", n, " ", b), func(t *testing.T) {
					_, result := run(t, cfg)
					if got := control(&result); got != int64(want) {
						t.Errorf("%d control messages, want %d", got, want)
					}
					perTask := float64(want) / float64(n)
					if policy == "dodoor" && n == 4000 && b.batch == 100 && b.mini == 8 && perTask != 1+1.0/8+5.0/100 {
						t.Errorf("%v per task", perTask)
					}
				})
			}
		}
	}
}

// With coalescing, what waits travels in one message: fewer of them, and every task all the same.
func TestCoalescingSavesMessages(t *testing.T) {
	sent := map[int]int64{}
	for _, most := range []int{1, 128} {
		cfg := bare(t, "dodoor", equal("a", 4, 8), units(2000, ms, 10*ms))
		cfg.MaxBatch, cfg.Replica.DeltaBatch = most, 2
		cfg.Network = slow
		_, result := run(t, cfg)
		sent[most] = result.Messages
	}
	if sent[128] > sent[1]*3/4 {
		t.Errorf("%d messages with coalescing, %d without", sent[128], sent[1])
	}
}
