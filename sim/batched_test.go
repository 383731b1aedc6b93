package sim_test

import (
	"strconv"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
)

// The simulator's cluster, with tasks that do not end meanwhile, is the b-batched process of the theory: it
// places every ball where the bare policy does whose view is brought up to date once per batch. How large the
// gap is, and that it is the theory's, is tested with the bare policy (package baselines).
func TestBatchedChoices(t *testing.T) {
	const bins, balls = 50, 1000
	for _, policy := range []string{"cached-pot", "oneplusbeta", "dodoor"} {
		for _, batch := range []int{1, 50, 300} {
			requests := units(balls, time.Microsecond, time.Second)
			cfg := bare(t, policy, equal("a", bins, 1), requests)
			cfg.Store.Batch, cfg.Replica.DeltaBatch = int64(batch), batch
			cfg.Knobs.Find("score").(*scheduler.ScoreKnobs).Beta = 0.7
			rows, _ := run(t, cfg)

			p, v := barePolicy(t, &cfg)
			loads := make([]cluster.Load, bins)
			for i := range requests {
				task := cluster.Task{ID: requests[i].ID, Seed: cluster.HashID(requests[i].ID), Kind: &cluster.Kind{HasUniform: true,
					Uniform: cluster.Shape{Demand: requests[i].Demand, Duration: requests[i].Duration}}}
				bin := p.Submit(0, &task, v).Place[0].Node
				loads[bin] = loads[bin].Add(cluster.LoadOf(task.Uniform))
				if (i+1)%batch == 0 {
					for j := range loads {
						v.Node(j).Load = loads[j]
					}
				}
				if got, want := rows[strconv.Itoa(i)].Worker, v.Node(bin).Name; got != want {
					t.Fatalf("%s, b = %d: ball %d went to %s, want %s", policy, batch, i, got, want)
				}
			}
		}
	}
}

// barePolicy is a configuration's policy with a view of its nodes, all idle.
func barePolicy(t *testing.T, cfg *sim.Config) (scheduler.Policy, *scheduler.View) {
	t.Helper()
	p, err := baselines.New(cfg.Policy, cfg.Knobs, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := cfg.Replica
	c.Name, c.Incarnation = "scheduler-1", 1
	replica, err := scheduler.New(c, p)
	if err != nil {
		t.Fatal(err)
	}
	n := len(cfg.Nodes)
	s := cluster.Snapshot{Incarnation: 1, Version: 1, RosterVersion: 1, ReceiverIncarnation: 1,
		Roster: &cluster.Roster{Version: 1, Nodes: cfg.Nodes},
		Load:   make([]cluster.Load, n), OwnNumber: make([]int64, n), ReportSequence: make([]int64, n)}
	for i := range n {
		s.Node = append(s.Node, int32(i))
	}
	if _, err := replica.Push(0, &s); err != nil {
		t.Fatal(err)
	}
	return p, replica.View()
}
