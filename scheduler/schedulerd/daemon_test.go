package schedulerd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// probing is a policy that asks both nodes and takes the one with fewer tasks: it shows that probing
// fits the seam.
type probing struct {
	asked map[string][]scheduler.Probe
	step  scheduler.Step
}

func (p *probing) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	p.step = scheduler.Step{}
	for _, i := range v.Candidates() {
		p.step.Probe = append(p.step.Probe, scheduler.ProbeCall{Task: t, Node: int(i)})
	}
	return p.step
}

// Cached: it asks the nodes.
func (p *probing) Cached() bool { return false }

func (p *probing) Probed(_ time.Duration, a scheduler.Probe, v *scheduler.View) scheduler.Step {
	p.asked[a.Task.ID] = append(p.asked[a.Task.ID], a)
	answers := p.asked[a.Task.ID]
	if len(answers) < len(v.Candidates()) {
		return scheduler.Step{}
	}
	delete(p.asked, a.Task.ID)
	best := answers[0]
	for _, b := range answers {
		if best.Failed || !b.Failed && b.Answer.Tasks < best.Answer.Tasks {
			best = b
		}
	}
	return scheduler.Step{Place: []scheduler.Placement{{Task: a.Task, Node: best.Node}}}
}

func TestProbingPolicyFitsTheSeam(t *testing.T) {
	_, client, workers, _ := cluster1(t, &probing{asked: map[string][]scheduler.Probe{}})
	for i, id := range ids(10) {
		submitAll(t, client, id)
		awaitHeld(t, workers, i+1)
	}
	for _, w := range workers {
		if len(w.held) != 5 {
			t.Errorf("worker %s holds %d tasks, want 5: every decision saw the true counts", w.node.Name, len(w.held))
		}
		w.finishAll(t, client)
	}
	collect(t, client, 10)
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
	if _, err := d.Submit(context.Background(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec("b")}}); cluster.CodeOf(err) != cluster.Draining {
		t.Errorf("after the drain: %v, want draining", err)
	}
	status, _ := data.Status(t.Context())
	if len(status.Schedulers) != 0 {
		t.Errorf("still registered: %+v", status.Schedulers)
	}
}

func TestPortInUse(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.Listen = data.Addr()
	if _, err := New(cfg); err == nil {
		t.Error("a second service on the same port was accepted")
	}
}

// Two processes with one name: the older one ends and says why.
func TestNewerNamesakeEndsTheOlder(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	older := newReplica(t, data.Addr(), dodoor(t))
	ended := make(chan error, 1)
	go func() { ended <- older.Run(t.Context()) }()
	untilRegistered(t, data)
	start(t, newReplica(t, data.Addr(), dodoor(t)))
	select {
	case err := <-ended:
		if cluster.CodeOf(err) != cluster.Stale {
			t.Errorf("ended with %v, want stale", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the older process runs on")
	}
}

func untilRegistered(t *testing.T, data interface {
	Status(context.Context) (cluster.ClusterStatus, error)
}) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if status, _ := data.Status(t.Context()); len(status.Schedulers) == 1 {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatal("never registered")
		}
	}
}

// A result that its worker dropped is found missing by an audit, and the task runs elsewhere.
func TestAuditFindsForgottenTasks(t *testing.T) {
	d, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, ids(10)...)
	awaitHeld(t, workers, 10)
	workers[0].mu.Lock()
	forgotten := len(workers[0].held)
	clear(workers[0].held)
	workers[0].mu.Unlock()
	if forgotten == 0 {
		t.Fatal("the seed put no task on the first worker")
	}
	deadline := time.After(20 * time.Second)
	for heldBy(workers) != 10 {
		d.auditNodes(t.Context(), 0)
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("workers hold %d of 10 tasks after audits", heldBy(workers))
		}
	}
	for _, w := range workers {
		w.finishAll(t, client)
	}
	if got := len(collect(t, client, 10)); got != 10 {
		t.Errorf("%d records", got)
	}
}

// An address that now belongs to another worker is no longer that of the one that left.
func TestAnotherWorkerAtTheAddress(t *testing.T) {
	_, client, workers, _ := cluster1(t, dodoor(t))
	workers[0].mu.Lock()
	workers[0].node.Name = "w9" // what answers calls itself so from now on
	workers[0].mu.Unlock()
	submitAll(t, client, ids(20)...)
	workers[1].until(t, "holds all 20 tasks", func() bool { return len(workers[1].held) == 20 })
	workers[1].finishAll(t, client)
	collect(t, client, 20)
}

// A batch that is too large for one message is halved until it fits; no task pays for its neighbours.
func TestTooLargeBatchIsHalved(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.MaxBatch, cfg.RPC.MaxMessageBytes = 10_000, 4096
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	start(t, d)
	w := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	submitAll(t, d, ids(2000)...)
	w.until(t, "holds all 2000 tasks", func() bool { return len(w.held) == 2000 })
	w.finishAll(t, d)
	for _, r := range collect(t, d, 2000) {
		if r.Outcome != cluster.Finished || r.Attempts != 1 {
			t.Fatalf("record %+v", r)
		}
	}
}
