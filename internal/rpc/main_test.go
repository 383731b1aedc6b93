package rpc

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"

	"go.uber.org/goleak"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dims has extras, so that every conversion meets them.
var dims = func() cluster.Dimensions {
	d, err := cluster.NewDimensions("gpu", "fpga")
	if err != nil {
		panic(err)
	}
	return d
}()

// fakeScheduler answers with its functions; a nil one is not expected to be called.
type fakeScheduler struct {
	submit   func(context.Context, cluster.SubmitRequest) ([]cluster.Refusal, error)
	collect  func(context.Context, cluster.CollectRequest) (cluster.CollectReply, error)
	cancel   func(context.Context, string) (bool, error)
	tasks    func(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error)
	complete func(context.Context, cluster.CompletionNotice) error
	push     func(context.Context, cluster.Snapshot) error
	view     func(context.Context) (cluster.ClusterStatus, error)
	settle   func(context.Context) error
	counters func(context.Context) (map[string]int64, error)
	setup    func(context.Context) (cluster.Setup, error)
	become   func(context.Context, string, uint64) error
	jobs     func(context.Context, cluster.JobQuery) ([]cluster.JobStatus, error)
	jobTasks func(context.Context, cluster.JobTaskQuery) ([]cluster.JobTask, error)
	estimate func(context.Context, cluster.EstimateQuery) ([]cluster.Estimate, error)
	onJob    func(ctx context.Context, what, job string) (int64, error) // cancel, retry or forget
}

func (f *fakeScheduler) Jobs(ctx context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error) {
	return f.jobs(ctx, q)
}
func (f *fakeScheduler) Estimates(ctx context.Context, q cluster.EstimateQuery) ([]cluster.Estimate, error) {
	return f.estimate(ctx, q)
}
func (f *fakeScheduler) JobTasks(ctx context.Context, q cluster.JobTaskQuery) ([]cluster.JobTask, error) {
	return f.jobTasks(ctx, q)
}
func (f *fakeScheduler) CancelJob(ctx context.Context, job string) (int64, error) {
	return f.onJob(ctx, "cancel", job)
}
func (f *fakeScheduler) RetryJob(ctx context.Context, job string) (int64, error) {
	return f.onJob(ctx, "retry", job)
}
func (f *fakeScheduler) ForgetJob(ctx context.Context, job string) (bool, error) {
	known, err := f.onJob(ctx, "forget", job)
	return known > 0, err
}

func (f *fakeScheduler) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	return f.submit(ctx, r)
}
func (f *fakeScheduler) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	return f.collect(ctx, r)
}
func (f *fakeScheduler) Cancel(ctx context.Context, id string) (bool, error) {
	return f.cancel(ctx, id)
}
func (f *fakeScheduler) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	return f.tasks(ctx, q)
}
func (f *fakeScheduler) Complete(ctx context.Context, n cluster.CompletionNotice) error {
	return f.complete(ctx, n)
}
func (f *fakeScheduler) Push(ctx context.Context, s cluster.Snapshot) error { return f.push(ctx, s) }
func (f *fakeScheduler) View(ctx context.Context) (cluster.ClusterStatus, error) {
	return f.view(ctx)
}
func (f *fakeScheduler) Settle(ctx context.Context) error                 { return f.settle(ctx) }
func (f *fakeScheduler) Setup(ctx context.Context) (cluster.Setup, error) { return f.setup(ctx) }
func (f *fakeScheduler) SwitchPolicy(ctx context.Context, policy string, seed uint64) error {
	return f.become(ctx, policy, seed)
}
func (f *fakeScheduler) Counters(ctx context.Context) (map[string]int64, error) {
	return f.counters(ctx)
}

type fakeWorker struct {
	attach   func(context.Context, cluster.SchedulerRef) (cluster.AttachReply, error)
	enqueue  func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error)
	claim    func(context.Context, cluster.ClaimRequest) ([]cluster.Holding, error)
	probe    func(context.Context, string, cluster.Resources) (cluster.ProbeReply, error)
	cancel   func(context.Context, string, string) (bool, error)
	drain    func(context.Context, bool) error
	tasks    func(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error)
	state    func(context.Context) (cluster.Report, error)
	counters func(context.Context) (map[string]int64, error)
	setup    func(context.Context) (cluster.Setup, error)
	refuses  func(context.Context, cluster.Template) (string, error)
	output   func(context.Context, cluster.OutputRequest) (cluster.OutputChunk, error)
	forget   func(context.Context, string) error
}

func (f *fakeWorker) Refuses(ctx context.Context, t cluster.Template) (string, error) {
	return f.refuses(ctx, t)
}
func (f *fakeWorker) Output(ctx context.Context, r cluster.OutputRequest) (cluster.OutputChunk, error) {
	return f.output(ctx, r)
}
func (f *fakeWorker) ForgetJob(ctx context.Context, job string) error { return f.forget(ctx, job) }
func (f *fakeWorker) Attach(ctx context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error) {
	return f.attach(ctx, s)
}
func (f *fakeWorker) Enqueue(ctx context.Context, q cluster.Enqueue) (cluster.EnqueueReply, error) {
	return f.enqueue(ctx, q)
}
func (f *fakeWorker) Claim(ctx context.Context, q cluster.ClaimRequest) ([]cluster.Holding, error) {
	return f.claim(ctx, q)
}
func (f *fakeWorker) Probe(ctx context.Context, id string, r cluster.Resources) (cluster.ProbeReply, error) {
	return f.probe(ctx, id, r)
}
func (f *fakeWorker) Cancel(ctx context.Context, id, scheduler string) (bool, error) {
	return f.cancel(ctx, id, scheduler)
}
func (f *fakeWorker) Drain(ctx context.Context, draining bool) error { return f.drain(ctx, draining) }
func (f *fakeWorker) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	return f.tasks(ctx, q)
}
func (f *fakeWorker) State(ctx context.Context) (cluster.Report, error) { return f.state(ctx) }
func (f *fakeWorker) Setup(ctx context.Context) (cluster.Setup, error)  { return f.setup(ctx) }
func (f *fakeWorker) Counters(ctx context.Context) (map[string]int64, error) {
	return f.counters(ctx)
}

type fakeData struct {
	registerNode        func(context.Context, cluster.Node) (int64, error)
	unregisterNode      func(context.Context, string, int64) error
	registerScheduler   func(context.Context, cluster.SchedulerRef) (cluster.Snapshot, error)
	unregisterScheduler func(context.Context, string, int64) error
	checkScheduler      func(context.Context, string, int64) error
	flush               func(context.Context, cluster.Delta) (int64, error)
	report              func(context.Context, cluster.Report) error
	status              func(context.Context) (cluster.ClusterStatus, error)
	settle              func(context.Context) error
	counters            func(context.Context) (map[string]int64, error)
	setup               func(context.Context) (cluster.Setup, error)
}

func (f *fakeData) RegisterNode(ctx context.Context, n cluster.Node) (int64, error) {
	return f.registerNode(ctx, n)
}
func (f *fakeData) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	return f.unregisterNode(ctx, name, incarnation)
}
func (f *fakeData) RegisterScheduler(ctx context.Context, s cluster.SchedulerRef) (cluster.Snapshot, error) {
	return f.registerScheduler(ctx, s)
}
func (f *fakeData) UnregisterScheduler(ctx context.Context, name string, incarnation int64) error {
	return f.unregisterScheduler(ctx, name, incarnation)
}
func (f *fakeData) CheckScheduler(ctx context.Context, name string, incarnation int64) error {
	return f.checkScheduler(ctx, name, incarnation)
}
func (f *fakeData) Flush(ctx context.Context, d cluster.Delta) (int64, error) { return f.flush(ctx, d) }
func (f *fakeData) Report(ctx context.Context, r cluster.Report) error        { return f.report(ctx, r) }
func (f *fakeData) Status(ctx context.Context) (cluster.ClusterStatus, error) { return f.status(ctx) }
func (f *fakeData) Settle(ctx context.Context) error                          { return f.settle(ctx) }
func (f *fakeData) Setup(ctx context.Context) (cluster.Setup, error)          { return f.setup(ctx) }
func (f *fakeData) Counters(ctx context.Context) (map[string]int64, error)    { return f.counters(ctx) }

// quiet is a configuration for tests that provoke errors.
func quiet() Config {
	c := Default()
	c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	return c
}

// run serves until the test ends, or until the returned function is called; it checks that Serve
// then returns without an error.
func run(t testing.TB, s *Server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// inMemory serves over pipes; the returned configuration dials them.
func inMemory(t testing.TB, service Service, cfg Config) (s *Server, l *rpctest.Listener, client Config) {
	l = rpctest.NewListener()
	s = NewServer(l, service, cfg)
	run(t, s)
	cfg.Dial = l.Dial
	return s, l, cfg
}

// overTCP serves on loopback.
func overTCP(t testing.TB, service Service, cfg Config) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", service, cfg)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

func dialMemory(t testing.TB, l *rpctest.Listener) net.Conn {
	t.Helper()
	conn, err := l.Dial(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func schedulerClient(t testing.TB, addr string, cfg Config) *SchedulerClient {
	c := NewSchedulerClient(addr, dims, cfg)
	t.Cleanup(func() { c.Close() })
	return c
}

func workerClient(t testing.TB, addr string, cfg Config) *WorkerClient {
	c := NewWorkerClient(addr, dims, cfg)
	t.Cleanup(func() { c.Close() })
	return c
}
