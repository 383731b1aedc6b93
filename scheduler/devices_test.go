package scheduler

import (
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// A node is no candidate for what would split its devices, and the refusal says so; a plain quantity can be split.
func TestTasksThatSplitDevices(t *testing.T) {
	cfg := testConfig()
	cfg.Dimensions, _ = cluster.NewDimensions("gpu")
	const gpu = cluster.FirstExtra
	for _, c := range []struct {
		demand     int64
		capacities []int64
		want       string // the node, or part of the refusal
	}{
		{1500, []int64{4000, 2500}, "w1"},
		{1500, []int64{4000, 4000}, "gpu: 1.5 gpu is neither whole devices nor a part of one: ask for up to 1, or for a whole number"},
		{1500, []int64{0, 4000}, "gpu: 1.5 gpu is neither"},
		{1500, []int64{1000, 1000}, "gpu: the task needs 1.5 gpu, the largest capacity is 1 gpu"},
		{2500, []int64{2000, 1500}, "gpu: the task needs 2.5 gpu, the largest capacity is 2 gpu"},
		{2000, []int64{1500, 2000}, "w1"},
		{999, []int64{0, 1000}, "w1"},
	} {
		nodes := paperNodes(len(c.capacities))
		for i := range nodes {
			nodes[i].Capacity[gpu] = c.capacities[i]
		}
		r := replicaWith(t, cfg, paperPolicy(t), nodes)
		task := request("a", 1, 1, 1)
		task.Demand[gpu] = c.demand
		actions, refusal := r.Submit(0, "client", task)
		got := ""
		if refusal != nil {
			got = refusal.Message
		} else {
			got = r.Node(actions.Send[0].Node).Name
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%d of %v: %s, want %s", c.demand, c.capacities, got, c.want)
		}
	}
}
