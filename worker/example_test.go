package worker_test

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Two tasks for a node with room for one: the second starts when the first one ends. The shell would run what
// is to start, and send what waits for a scheduler.
func ExampleNode() {
	node, err := worker.New(worker.Config{
		Node:       cluster.Node{Name: "node-1", Class: "any", Slots: 8, Incarnation: 1, Capacity: cluster.Resources{1000, 4096}},
		Dimensions: cluster.Standard(),
		Types:      []cluster.TaskType{{Name: "job", Executor: "sleep"}},
		Executors:  []worker.Executor{{Name: "sleep", Emulates: true}},
		Limits:     worker.DefaultLimits(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scheduler := cluster.SchedulerRef{Name: "scheduler-1", Address: "127.0.0.1:20503", Incarnation: 1}
	if _, _, err := node.Attach(0, scheduler); err != nil {
		fmt.Println(err)
		return
	}
	shape := cluster.Shape{Demand: cluster.Resources{1000, 512}, Duration: 1000}
	placed := cluster.Load{}
	for number, id := range []string{"task-1", "task-2"} {
		placed = placed.Add(cluster.LoadOf(shape))
		_, actions, err := node.Enqueue(0, &cluster.Enqueue{Scheduler: scheduler, NodeIncarnation: 1, Number: int64(number + 1), Placed: placed,
			Assignments: []cluster.Assignment{{Number: int64(number + 1), TaskID: id, Type: "job", Shape: shape, TimeScale: 1}}})
		fmt.Println(id, "starts", len(actions.Start), "tasks,", err)
	}
	actions := node.Finished(2*time.Second, "task-1", worker.Result{Outcome: cluster.Finished})
	fmt.Println("start", actions.Start[0].TaskID, "notify", actions.Notify, "report", actions.Report)

	notice, ok := node.Notice(2*time.Second, "scheduler-1", 10)
	fmt.Println(len(notice.Message.Completions), "completion for the scheduler", ok)
	node.Acknowledged(&notice)
	// Output:
	// task-1 starts 1 tasks, <nil>
	// task-2 starts 0 tasks, <nil>
	// start task-2 notify [scheduler-1] report true
	// 1 completion for the scheduler true
}
