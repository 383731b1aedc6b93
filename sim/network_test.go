package sim_test

import (
	"strconv"
	"testing"
	"time"

	"dodoor/sim"
)

// The intervals of a row are sums of delays and costs; a worker's first placement waits for the handshake.
func TestIntervalsOfARow(t *testing.T) {
	const d, submitting, placing, takes = 10 * ms, 3 * ms, 5 * ms, 200 * ms
	for _, c := range []struct {
		policy  string
		probing time.Duration // before the placement
	}{{"random", 0}, {"pot", 2*d + placing}, {"prequal", 0}, {"dodoor", 0}, {sim.Oracle, 0}} {
		t.Run(c.policy, func(t *testing.T) {
			cfg := bare(t, c.policy, equal("a", 2, 8), units(40, time.Second, takes))
			cfg.Network = sim.Network{Delay: d, Scheduler: sim.Station{Cost: submitting, Handlers: 1}, Data: sim.Station{Handlers: 1},
				Worker: sim.Station{Cost: placing, Handlers: 4}}
			rows, _ := run(t, cfg)
			met := map[string]bool{}
			for i := range len(rows) {
				r := rows[strconv.Itoa(i)]
				scheduling := c.probing + 2*d + placing
				if !met[r.Worker] {
					scheduling += 2*d + placing
				}
				met[r.Worker] = true
				if r.Sent != r.Scheduled || r.Received != r.Sent+d+submitting || r.Enqueued != r.Received+scheduling {
					t.Fatalf("task %d sent at %v, received at %v, enqueued at %v; want %v and %v later", i, r.Sent, r.Received, r.Enqueued, d+submitting,
						scheduling)
				}
				// The worker enqueued it one delay before the scheduler knew, and the notice takes as long as a submission.
				if end := r.Enqueued - d + takes + d + submitting; r.Started != r.Enqueued || r.Finished != r.Started+takes || r.Completed != end {
					t.Fatalf("task %d started at %v, finished at %v, completed at %v, want completed at %v", i, r.Started, r.Finished, r.Completed, end)
				}
			}
			if len(met) != 2 && c.policy != sim.Oracle { // which always takes the first of two idle ones
				t.Errorf("%d workers were used", len(met))
			}
		})
	}
}

// Submissions wait for the scheduler's handlers, placements from many schedulers for the worker's.
func TestHandlersShowInTheRows(t *testing.T) {
	const d, cost = 10 * ms, 5 * ms
	for _, c := range []struct {
		where   string
		station func(*sim.Network) *sim.Station
	}{{"scheduler", func(n *sim.Network) *sim.Station { return &n.Scheduler }},
		{"worker", func(n *sim.Network) *sim.Station { return &n.Worker }}} {
		requests := units(10, 0, time.Minute)
		for i := range requests {
			requests[i].Start = time.Duration(i/5) * time.Second // the first five for the handshakes
		}
		cfg := bare(t, "random", equal("a", 1, 10), requests)
		cfg.Network.Delay = d
		*c.station(&cfg.Network) = sim.Station{Cost: cost, Handlers: 2}
		if c.where == "worker" {
			cfg.Schedulers = 5 // each has a stream of its own to the worker
		}
		rows, _ := run(t, cfg)
		for i, turn := range []time.Duration{1, 1, 2, 2, 3} {
			r := rows[strconv.Itoa(5+i)]
			took, want := r.Received-r.Sent, d+turn*cost
			if c.where == "worker" {
				took, want = r.Enqueued-r.Received, 2*d+turn*cost
			}
			if took != want {
				t.Errorf("%s: request %d took %v, want %v", c.where, i, took, want)
			}
		}
	}
}
