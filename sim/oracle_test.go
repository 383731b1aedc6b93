package sim_test

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
	"dodoor/worker"
)

// slot is a task on a node, as the brute force has placed it.
type slot struct {
	start, end time.Duration
	demand     cluster.Resources
}

// startOn is when a task would start on a node: after the one in front, as soon as it fits. Times at which it
// might are those at which something ends.
func startOn(n *cluster.Node, placed []slot, now time.Duration, demand cluster.Resources) time.Duration {
	if last := len(placed) - 1; last >= 0 {
		now = max(now, placed[last].start)
	}
	fits := func(at time.Duration) bool {
		sum, running := demand, 1
		for _, p := range placed {
			if p.start <= at && at < p.end {
				sum, running = sum.Add(p.demand), running+1
			}
		}
		return running <= n.Slots && sum.FitsIn(&n.Capacity)
	}
	best := time.Duration(-1)
	if fits(now) {
		return now
	}
	for _, p := range placed {
		if p.end > now && (best < 0 || p.end < best) && fits(p.end) {
			best = p.end
		}
	}
	return best
}

// The oracle places every task where it really ends first, and what it foresees happens: on clusters whose
// messages take no time, a brute force over all nodes finds the same worker and the same start of every task.
func TestOracleForesees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []cluster.Node
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			cores := rapid.IntRange(2, 6).Draw(t, "cores")
			n := equal(nodeName("class", i), 1, cores)[0]
			n.Capacity[cluster.Memory], n.Slots = int64(rapid.IntRange(4, 8).Draw(t, "memory")), rapid.IntRange(1, cores).Draw(t, "slots")
			nodes = append(nodes, n)
		}
		// At the same instant, the handshake of one scheduler lets another's placement pass.
		schedulers, least := rapid.IntRange(1, 3).Draw(t, "schedulers"), 0
		if schedulers > 1 {
			least = 1
		}
		requests := make([]generator.Request, rapid.IntRange(1, 30).Draw(t, "tasks"))
		at := time.Duration(0)
		for i := range requests {
			at += time.Duration(rapid.IntRange(least, 400).Draw(t, "gap")) * ms
			requests[i] = unit(i, at, time.Duration(rapid.IntRange(0, 1500).Draw(t, "duration"))*ms)
			requests[i].Demand = cluster.Resources{int64(rapid.IntRange(1, 2).Draw(t, "demand")) * 1000,
				int64(rapid.IntRange(0, 4).Draw(t, "memory"))}
		}
		cfg := bare(t, sim.Oracle, nodes, requests)
		cfg.Schedulers = schedulers
		cfg.Emulation.Sigma = rapid.SampledFrom([]float64{0, 1}).Draw(t, "noise") // it knows the true durations
		rows, _ := run(t, cfg)
		placed := make([][]slot, len(nodes))
		for i, q := range requests {
			takes := cfg.Emulation.Duration(&worker.Start{Shape: cluster.Shape{Duration: q.Duration}, TimeScale: 1, Seed: cluster.HashID(q.ID)})
			best, start := -1, time.Duration(0)
			for j := range nodes {
				if s := startOn(&nodes[j], placed[j], q.Start, q.Demand); best < 0 || s < start {
					best, start = j, s
				}
			}
			r := rows[strconv.Itoa(i)]
			if r.Worker != nodes[best].Name || r.Started != start || r.Finished != start+takes {
				t.Fatalf("task %d ran on %s from %v to %v, want %s from %v to %v", i, r.Worker, r.Started, r.Finished, nodes[best].Name, start,
					start+takes)
			}
			placed[best] = append(placed[best], slot{start, start + takes, q.Demand})
		}
	})
}

// Nobody who knows less does better, on the whole.
func TestOracleIsTheBest(t *testing.T) {
	mean := map[string]float64{}
	for _, policy := range []string{sim.Oracle, "dodoor+", "dodoor", "pot", "random"} {
		u := setup{profile: "paper", policy: policy, trace: "functionbench", qps: 90, n: 4000, seed: 1}
		rows, _ := run(t, u.config(t))
		for _, r := range rows {
			mean[policy] += (r.Completed - r.Received).Seconds() / float64(len(rows))
		}
	}
	t.Log(mean)
	for policy, m := range mean {
		if m < mean[sim.Oracle] {
			t.Errorf("mean makespan with %s is %.3f s, with the oracle %.3f s", policy, m, mean[sim.Oracle])
		}
	}
	if mean["random"] < 2*mean[sim.Oracle] {
		t.Error("there was nothing to decide")
	}
}
