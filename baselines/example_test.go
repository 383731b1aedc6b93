package baselines

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// freestOfThree draws three feasible nodes and takes the one with the most free memory.
type freestOfThree struct {
	placing
}

func (f *freestOfThree) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	best, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{} // no node can run t: the submission is refused
	}
	for range 2 {
		if other, ok := v.Draw(t, draws, best); ok && free(v, other) > free(v, best) {
			best = other
		}
	}
	return f.on(t, best)
}

// Wants makes the replica keep the view's loads up to date.
func (f *freestOfThree) Wants() scheduler.Wants { return scheduler.Wants{Loads: scheduler.Snapshots} }

// free is the memory in MiB that the tasks of node i leave.
func free(v *scheduler.View, i int) int64 {
	n := v.Node(i)
	return n.Capacity[cluster.Memory] - n.Load.Demand[cluster.Memory]
}

// The replica around a policy does all the rest: it accepts tasks, keeps the view, and says what to
// send where.
func Example() {
	replica, err := scheduler.New(scheduler.Config{
		Name: "scheduler-1", Incarnation: 1, Seed: 1, DeltaBatch: 8, SelfCorrection: true,
		MaxAttempts: 5, MaxPending: 1000, RetainResults: 1000, RetainFor: time.Minute,
		Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "job"}},
	}, &freestOfThree{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := &cluster.Snapshot{Incarnation: 1, Version: 1, RosterVersion: 1, ReceiverIncarnation: 1, Roster: &cluster.Roster{Version: 1}}
	for i, memory := range []int64{8192, 65536} {
		snapshot.Roster.Nodes = append(snapshot.Roster.Nodes, cluster.Node{Name: fmt.Sprintf("node-%d", i+1), Class: "any",
			Capacity: cluster.Resources{cluster.Cores: 8000, cluster.Memory: memory}, Slots: 8, Incarnation: 1})
	}
	if _, err := replica.Push(0, snapshot); err != nil {
		fmt.Println(err)
		return
	}
	duration := int64(1000) // milliseconds
	for _, memory := range []int64{512, 16384, 42000, 4096, 70000} {
		task := &cluster.TaskSpec{ID: fmt.Sprintf("%d MiB", memory), Type: "job", TimeScale: 1, Duration: &duration,
			Demand: &cluster.Resources{cluster.Cores: 1000, cluster.Memory: memory}}
		actions, refusal := replica.Submit(0, "client", task)
		if refusal != nil {
			fmt.Println(task.ID, "refused:", refusal.Message)
			continue
		}
		fmt.Println(task.ID, "to", replica.Node(actions.Send[0].Node).Name)
	}
	// Output:
	// 512 MiB to node-2
	// 16384 MiB to node-2
	// 42000 MiB to node-2
	// 4096 MiB to node-1
	// 70000 MiB refused: memory: the task needs 70000 MiB memory, the largest capacity is 65536 MiB memory
}
