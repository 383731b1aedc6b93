package localcluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/localcluster"
)

// A data service, a scheduler and a worker in this process, on loopback; one task, and accounts that are zero after it.
func ExampleStart() {
	c, err := conf.Load("single", []string{"worker.executor=sleep"})
	if err != nil {
		panic(err)
	}
	l, err := localcluster.Start(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		panic(err)
	}
	defer l.Stop()
	ctx := context.Background()
	if err := l.AwaitWorkers(ctx); err != nil {
		panic(err)
	}
	duration := int64(5)
	task := cluster.TaskSpec{ID: "a", Type: "sleep", Mode: "short", TimeScale: 1, Duration: &duration,
		Demand: &cluster.Resources{cluster.Cores: 500, cluster.Memory: 64}}
	scheduler := l.Schedulers[0].Service
	request := cluster.SubmitRequest{Client: "me", Tasks: []cluster.TaskSpec{task}}
	if refused, err := scheduler.Submit(ctx, request); err != nil || len(refused) > 0 {
		panic(fmt.Sprint(refused, err))
	}
	reply, err := scheduler.Collect(ctx, cluster.CollectRequest{Client: "me", Max: 1, Wait: time.Minute})
	if err != nil {
		panic(err)
	}
	fmt.Println(reply.Records[0].ID, reply.Records[0].Outcome, "on", reply.Records[0].Worker)
	fmt.Println("accounts settled:", l.Settle(ctx) == nil)
	// Output:
	// a finished on laptop-1
	// accounts settled: true
}
