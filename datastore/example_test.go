package datastore_test

import (
	"fmt"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// A scheduler says what it placed, the worker what it received, and every second decision (b = 2) is pushed. What
// the worker has received is in its own load already, and counts once.
func ExampleStore() {
	store, err := datastore.New(datastore.Config{Incarnation: 1, Batch: 2, NodeTimeout: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	node := cluster.Node{Name: "node-1", Address: "127.0.0.1:20501", Class: "any", Slots: 8, Incarnation: 1,
		Capacity: cluster.Resources{8000, 16384}}
	if err := store.RegisterNode(0, node); err != nil {
		fmt.Println(err)
		return
	}
	scheduler := cluster.SchedulerRef{Name: "scheduler-1", Address: "127.0.0.1:20503", Incarnation: 1}
	if _, err := store.RegisterScheduler(scheduler); err != nil {
		fmt.Println(err)
		return
	}
	one := cluster.LoadOf(cluster.Shape{Demand: cluster.Resources{1000, 512}, Duration: 1000})
	placed := cluster.Load{}
	for decisions := int64(1); decisions <= 2; decisions++ {
		placed = placed.Add(one)
		actions, err := store.Flush(time.Second, &cluster.Delta{Scheduler: "scheduler-1", Incarnation: 1, Decisions: decisions,
			Placed: []cluster.Placed{{Node: "node-1", NodeIncarnation: 1, Number: decisions, Placed: placed}}})
		fmt.Println(decisions, "decisions:", len(actions.Push), "pushes,", err)
		for _, push := range actions.Push {
			var snapshot cluster.Snapshot
			store.Fill(&snapshot, push)
			fmt.Println("to", push.To.Name, "with", snapshot.Load[0].Tasks, "tasks on the node")
			store.Answered(time.Second, push, 0) // the scheduler took it
		}
	}
	err = store.Report(2*time.Second, &cluster.Report{Node: "node-1", Incarnation: 1, Sequence: 1, Load: one, // one of two arrived
		Received: []cluster.Received{{Scheduler: "scheduler-1", Incarnation: 1, Number: 1, Received: one}}})
	fmt.Println("after a report:", store.Status(2 * time.Second).Nodes[0].Load.Tasks, "tasks,", err)
	// Output:
	// 1 decisions: 0 pushes, <nil>
	// 2 decisions: 1 pushes, <nil>
	// to scheduler-1 with 2 tasks on the node
	// after a report: 2 tasks, <nil>
}
