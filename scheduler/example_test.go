package scheduler_test

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// A task's life in a replica: a snapshot shows a worker, a submission becomes a dispatch, the worker takes it and
// says that it ended, the client collects. The shell would send what Actions holds over the network.
func ExampleReplica() {
	policy, err := scheduler.PaperPolicy.Build(nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	replica, err := scheduler.New(scheduler.Config{
		Name: "scheduler-1", Incarnation: 1, Seed: 1, DeltaBatch: 1, MaxAttempts: 5, MaxPending: 1000,
		RetainResults: 1000, RetainFor: time.Minute, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "job"}},
	}, policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	node := cluster.Node{Name: "node-1", Class: "any", Slots: 8, Incarnation: 1, Capacity: cluster.Resources{8000, 16384}}
	actions, err := replica.Push(0, &cluster.Snapshot{Incarnation: 1, Version: 1, RosterVersion: 1, ReceiverIncarnation: 1,
		Roster: &cluster.Roster{Version: 1, Nodes: []cluster.Node{node}}})
	fmt.Println("connect to", len(actions.Connect), "node,", err)

	duration := int64(1000) // milliseconds
	actions, refusal := replica.Submit(time.Second, "client", &cluster.TaskSpec{ID: "task-1", Type: "job", TimeScale: 1,
		Demand: &cluster.Resources{1000, 512}, Duration: &duration})
	sent := actions.Send[0]
	fmt.Println("send", sent.Assignment.TaskID, "to", replica.Node(sent.Node).Name, "and flush", len(actions.Flush), "delta,", refusal)

	replica.Acknowledged(time.Second, []scheduler.Dispatch{sent}, &cluster.EnqueueReply{})
	actions, err = replica.Completed(3*time.Second, &cluster.CompletionNotice{Node: "node-1", NodeIncarnation: 1, SchedulerIncarnation: 1,
		Completions: []cluster.Completion{{TaskID: "task-1", Number: 1, Outcome: cluster.Finished, Run: time.Second}}})
	fmt.Println("wake collectors:", actions.Wake, "makespan:", actions.Finished, err)

	records, _, err := replica.Collect(nil, &cluster.CollectRequest{Client: "client", Max: 10})
	fmt.Println(records[0].ID, records[0].Outcome, err)
	// Output:
	// connect to 1 node, <nil>
	// send task-1 to node-1 and flush 1 delta, <nil>
	// wake collectors: true makespan: [2s] <nil>
	// task-1 finished <nil>
}
