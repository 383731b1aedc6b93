package schedulerd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/datastore/datastored"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// running is anything with an address that runs until its context ends.
type running interface {
	Addr() string
	Run(ctx context.Context) error
}

// start runs a service; stop ends it and waits. The test ends it at the latest.
func start(t testing.TB, s running) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil && !strings.Contains(err.Error(), "abandoned") {
				t.Errorf("%T ended with %v", s, err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func newData(t testing.TB, listen string) *datastored.Daemon {
	t.Helper()
	d, err := datastored.New(datastored.Config{Store: datastore.Config{Batch: 100, NodeTimeout: time.Minute}, Listen: listen,
		Dimensions: cluster.Standard(), RPC: rpc.Default(), Log: quiet, Metrics: telemetry.NewRegistry("datastore", "d")})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newReplica(t testing.TB, data string, policy scheduler.Policy) *Daemon {
	t.Helper()
	d, err := New(replicaConfig(data, policy))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func replicaConfig(data string, policy scheduler.Policy) Config {
	return Config{
		Replica: scheduler.Config{Name: "s1", Seed: 1, DeltaBatch: 8, MaxAttempts: 5, ReplaceTimeout: time.Minute, MaxPending: 1 << 20,
			RetainResults: 1 << 20, RetainFor: time.Hour, RetainJobs: time.Hour, Dimensions: cluster.Standard(),
			Types: []cluster.TaskType{{Name: "simulated"}}},
		Policy: policy, Listen: "127.0.0.1:0", DataService: data, RPC: rpc.Default(), MaxBatch: 128,
		NodeGrace: time.Second, ProbeTimeout: time.Second, DrainTimeout: time.Millisecond, Log: quiet,
		Metrics: telemetry.NewRegistry("scheduler", "s1")}
}

func dodoor(t testing.TB) scheduler.Policy {
	t.Helper()
	p, err := scheduler.PaperPolicy.Build(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fakeWorker holds every placement until it is told otherwise.
type fakeWorker struct {
	node   cluster.Node
	server *rpc.Server

	mu       sync.Mutex
	received cluster.Received
	held     map[string]cluster.Assignment
	refuse   bool
	lose     int // so many answers to placements
	repeated int
	changed  chan struct{}
}

func startWorker(t testing.TB, name, data string) *fakeWorker {
	t.Helper()
	w := &fakeWorker{held: map[string]cluster.Assignment{}, changed: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.node = cluster.Node{Name: name, Address: listener.Addr().String(), Class: "any", Slots: 8, Incarnation: time.Now().UnixNano(),
		Capacity: cluster.Resources{8000, 65536}}
	w.server = rpc.NewServer(listener, rpc.WorkerService(w, cluster.Standard()), rpc.Default())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(context.Background()) }()
	t.Cleanup(func() {
		w.server.Close()
		<-served
	})
	client := rpc.NewDataClient(data, cluster.Standard(), rpc.Default())
	defer client.Close()
	if _, err := client.RegisterNode(t.Context(), w.node); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *fakeWorker) note() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// until waits until the worker satisfies a condition.
func (w *fakeWorker) until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for {
		w.mu.Lock()
		ok, changed := condition(), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatalf("worker %s: never %s", w.node.Name, what)
		}
	}
}

func (w *fakeWorker) Attach(_ context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Incarnation != w.received.Incarnation {
		w.received = cluster.Received{Scheduler: s.Name, Incarnation: s.Incarnation}
	}
	return cluster.AttachReply{Incarnation: w.node.Incarnation, Number: w.received.Number, Report: w.report()}, nil
}

func (w *fakeWorker) Claim(_ context.Context, q cluster.ClaimRequest) ([]cluster.Holding, error) {
	return slices.Repeat([]cluster.Holding{cluster.Held}, len(q.Claims)), nil
}

func (w *fakeWorker) report() cluster.Report {
	return cluster.Report{Node: w.node.Name, Incarnation: w.node.Incarnation, Sequence: 1}
}

func (w *fakeWorker) Enqueue(_ context.Context, e cluster.Enqueue) (cluster.EnqueueReply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.note()
	var reply cluster.EnqueueReply
	for _, a := range e.Assignments {
		switch {
		case a.Number <= w.received.Number:
			w.repeated++
		case w.refuse:
			reply.Refused = append(reply.Refused, cluster.Refusal{TaskID: a.TaskID, Number: a.Number, Code: cluster.NodeDraining,
				Message: "closing time"})
		default:
			w.held[a.TaskID] = a
		}
	}
	w.received.Number, w.received.Received = e.Number, e.Placed
	if w.lose > 0 {
		w.lose--
		return reply, errors.New("the answer is lost")
	}
	return reply, nil
}

// loses makes the worker lose its next answers to placements, which it takes.
func (w *fakeWorker) loses(answers int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = answers
}

func (w *fakeWorker) Probe(context.Context, string, cluster.Resources) (cluster.ProbeReply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cluster.ProbeReply{Tasks: int64(len(w.held)), Latency: -1}, nil
}

func (w *fakeWorker) Cancel(_ context.Context, id, _ string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.note()
	_, held := w.held[id]
	delete(w.held, id)
	return held, nil
}

func (w *fakeWorker) Drain(context.Context, bool) error { return nil }
func (w *fakeWorker) Tasks(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []cluster.TaskStatus
	for id := range w.held {
		list = append(list, cluster.TaskStatus{ID: id, Type: "simulated", Phase: cluster.Running, Node: w.node.Name,
			Scheduler: w.received.Scheduler})
	}
	return list, nil
}
func (w *fakeWorker) State(context.Context) (cluster.Report, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.report(), nil
}
func (w *fakeWorker) Refuses(context.Context, cluster.Template) (string, error) { return "", nil }
func (w *fakeWorker) Output(context.Context, cluster.OutputRequest) (cluster.OutputChunk, error) {
	return cluster.OutputChunk{}, errors.ErrUnsupported
}
func (w *fakeWorker) ForgetJob(context.Context, string) error { return nil }
func (w *fakeWorker) Setup(context.Context) (cluster.Setup, error) {
	return cluster.Setup{}, errors.ErrUnsupported
}
func (w *fakeWorker) Counters(context.Context) (map[string]int64, error) {
	return nil, errors.New("not counted")
}

// finishAll ends everything the worker holds, in a notice to the scheduler.
func (w *fakeWorker) finishAll(t testing.TB, s rpc.Scheduler) {
	t.Helper()
	w.endAll(t, s, func(string) cluster.Outcome { return cluster.Finished })
}

// endAll ends everything the worker holds, each task as of says.
func (w *fakeWorker) endAll(t testing.TB, s rpc.Scheduler, of func(id string) cluster.Outcome) {
	t.Helper()
	w.mu.Lock()
	notice := cluster.CompletionNotice{Node: w.node.Name, NodeIncarnation: w.node.Incarnation, SchedulerIncarnation: w.received.Incarnation}
	for id, a := range w.held {
		notice.Completions = append(notice.Completions, cluster.Completion{TaskID: id, Number: a.Number, Outcome: of(id), Run: 1})
	}
	clear(w.held)
	w.mu.Unlock()
	if err := s.Complete(t.Context(), notice); err != nil {
		t.Fatal(err)
	}
}
