package schedulerd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

// cluster1 is a data service, a scheduler and two workers over real Thrift.
func cluster1(t testing.TB, policy scheduler.Policy) (*Daemon, *rpc.SchedulerClient, []*fakeWorker, func()) {
	t.Helper()
	data := newData(t, "127.0.0.1:0")
	stopData := start(t, data)
	d := newReplica(t, data.Addr(), policy)
	start(t, d)
	workers := []*fakeWorker{startWorker(t, "w1", data.Addr()), startWorker(t, "w2", data.Addr())}
	untilReady(t, d, 2)
	client := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	t.Cleanup(func() { client.Close() })
	return d, client, workers, stopData
}

func ids(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint("t", i))
	}
	return list
}

func heldBy(workers []*fakeWorker) (n int) {
	for _, w := range workers {
		w.mu.Lock()
		n += len(w.held)
		w.mu.Unlock()
	}
	return n
}

// awaitHeld waits until the workers hold n tasks together.
func awaitHeld(t testing.TB, workers []*fakeWorker, n int) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for heldBy(workers) != n {
		select {
		case <-workers[0].changedNow():
		case <-workers[len(workers)-1].changedNow():
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("workers hold %d tasks, want %d", heldBy(workers), n)
		}
	}
}

func (w *fakeWorker) changedNow() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func TestSubmitToResult(t *testing.T) {
	_, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, ids(20)...)
	awaitHeld(t, workers, 20)
	for _, w := range workers {
		w.finishAll(t, client)
	}
	seen := map[string]bool{}
	for _, r := range collect(t, client, 20) {
		if r.Outcome != cluster.Finished || r.Attempts != 1 || r.Scheduling <= 0 || r.Scheduling > r.Makespan {
			t.Errorf("record %+v", r)
		}
		if age := time.Since(time.Unix(0, int64(r.Received))); age < 0 || age > time.Minute {
			t.Errorf("received %v ago", age)
		}
		seen[r.ID] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d different tasks ended, want 20", len(seen))
	}
}

// A worker whose process is gone leaves the candidates at once, and what it held is placed again.
func TestDeadWorkerLosesNothing(t *testing.T) {
	d, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, ids(20)...)
	awaitHeld(t, workers, 20)
	workers[0].server.Close()
	all := 20
	for candidates(t, d) == 2 { // nobody knows before a task is sent there
		all++
		submitAll(t, client, fmt.Sprint("after", all))
	}
	workers[1].until(t, fmt.Sprintf("holds all %d tasks", all), func() bool { return len(workers[1].held) == all })
	untilReady(t, d, 1)
	workers[1].finishAll(t, client)
	for _, r := range collect(t, client, all) {
		if r.Outcome != cluster.Finished || r.Worker != "w2" {
			t.Errorf("record %+v: want it finished on w2", r)
		}
	}
}

func TestRefusingWorkerIsAvoided(t *testing.T) {
	_, client, workers, _ := cluster1(t, dodoor(t))
	workers[0].mu.Lock()
	workers[0].refuse = true
	workers[0].mu.Unlock()
	submitAll(t, client, ids(20)...)
	workers[1].until(t, "holds all 20 tasks", func() bool { return len(workers[1].held) == 20 })
	workers[1].finishAll(t, client)
	if got := len(collect(t, client, 20)); got != 20 {
		t.Errorf("%d records", got)
	}
}

// The data service is never on the way: placement goes on without it, and registration, view and
// accounts heal when it returns.
func TestDataServiceOutage(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	stopData := start(t, data)
	d := newReplica(t, data.Addr(), dodoor(t))
	start(t, d)
	w := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	defer client.Close()
	stopData()
	submitAll(t, client, ids(20)...)
	w.until(t, "holds all 20 tasks", func() bool { return len(w.held) == 20 })

	again := newData(t, data.Addr())
	start(t, again)
	if _, err := again.RegisterNode(t.Context(), w.node); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(20 * time.Second)
	for {
		submitAll(t, client, fmt.Sprint("again", time.Now().UnixNano()))
		if err := d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, _ := again.Status(t.Context())
		if len(status.Nodes) == 1 && status.Nodes[0].Load.Tasks >= 21 {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the aggregate is %+v, want all placements in it", status.Nodes)
		}
	}
}

func TestCancelReachesTheWorker(t *testing.T) {
	_, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, "a")
	awaitHeld(t, workers, 1)
	if found, err := client.Cancel(t.Context(), "a"); err != nil || !found {
		t.Fatalf("cancel: %v, %v", found, err)
	}
	awaitHeld(t, workers, 0)
}

func TestDrainAbandonsAloud(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newReplica(t, data.Addr(), dodoor(t))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	w := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	submitAll(t, d, "a")
	w.until(t, "holds the task", func() bool { return len(w.held) == 1 })
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "abandoned 1 unfinished") {
		t.Errorf("ended with %v, want what it abandoned", err)
	}
	if _, err := d.Submit(context.Background(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec("b")}}); !errors.Is(err,
		cluster.Draining) {
		t.Errorf("after the drain: %v, want draining", err)
	}
	status, _ := data.Status(t.Context())
	if len(status.Schedulers) != 0 {
		t.Errorf("still registered: %+v", status.Schedulers)
	}
}
