package workerd

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
	"dodoor/internal/telemetry"
	"dodoor/worker"
	"dodoor/worker/executor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dims = cluster.Standard()

// network is addresses in memory, so that services run inside a synctest bubble: time passes only
// when everybody waits for it, and every instant is exact.
type network struct {
	mu          sync.Mutex
	listeners   map[string]*rpctest.Listener
	dialled, up map[string]int // connections by address: ever, and now
}

func newNetwork() *network {
	return &network{listeners: map[string]*rpctest.Listener{}, dialled: map[string]int{}, up: map[string]int{}}
}

func (n *network) listen(addr string) *rpctest.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[addr] = rpctest.NewListener()
	return n.listeners[addr]
}

func (n *network) dial(ctx context.Context, addr string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[addr]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	}
	conn, err := l.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	n.count(addr, 1, 1)
	return &countedConn{Conn: conn, closed: sync.OnceFunc(func() { n.count(addr, 0, -1) })}, nil
}

func (n *network) count(addr string, dialled, up int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialled[addr] += dialled
	n.up[addr] += up
}

// connections returns how many connections to an address there were, and how many there are.
func (n *network) connections(addr string) (ever, now int) {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialled[addr], n.up[addr]
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (n *network) rpc() rpc.Config {
	cfg := rpc.Default()
	cfg.Dial, cfg.Log = n.dial, slog.New(slog.DiscardHandler)
	return cfg
}

// pass lets time pass, and everything happen that happens until then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// serve runs a fake service; stop ends it. The test ends it at the latest.
func serve(t testing.TB, listener net.Listener, service rpc.Service) (stop func()) {
	t.Helper()
	server := rpc.NewServer(listener, service, rpc.Config{Log: slog.New(slog.DiscardHandler)})
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background()) }()
	stop = sync.OnceFunc(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Errorf("fake service ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// function is an executor that calls one.
type function struct {
	executor.Base
	run func(ctx context.Context, s worker.Start) worker.Result
}

func (f function) Run(ctx context.Context, s worker.Start) worker.Result { return f.run(ctx, s) }

// wait passes a task's estimated duration.
func wait(ctx context.Context, s worker.Start) worker.Result {
	timer := time.NewTimer(time.Duration(s.Shape.Duration) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return worker.Result{Outcome: cluster.Finished}
	case <-ctx.Done():
		if ctx.Err() == context.DeadlineExceeded {
			return worker.Result{Outcome: cluster.TimedOut, ExitCode: -1}
		}
		return worker.Result{Outcome: cluster.Cancelled, ExitCode: -1}
	}
}

// config is a worker with four cores and two slots.
func config(r rpc.Config) Config {
	return Config{
		Node: worker.Config{
			Node: cluster.Node{Name: "w1", Class: "any", Slots: 2, Capacity: cluster.Resources{4000, 4096}}, Dimensions: dims,
			Types:     []cluster.TaskType{{Name: "plain", Executor: "wait"}, {Name: "fatal", Executor: "panic"}, {Name: "odd", Executor: "gone"}},
			Executors: []worker.Executor{{Name: "wait", Emulates: true}, {Name: "panic"}, {Name: "gone"}},
			Limits:    worker.DefaultLimits(),
		},
		Executors: map[string]executor.Executor{
			"wait":  function{run: wait},
			"panic": function{run: func(context.Context, worker.Start) worker.Result { panic("out of ideas") }},
		},
		Listen: "127.0.0.1:0", DataService: "data:1", RPC: r, MaxBatch: 128, Heartbeat: 10 * time.Second, DrainTimeout: time.Minute,
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("worker", "w1"),
	}
}

// bench is a worker between a fake data service and a fake scheduler, in memory.
type bench struct {
	*Daemon
	net   *network
	data  *fakeData
	sched *fakeScheduler
	stop  func() error // ends the worker and returns what Run returned
	ended <-chan struct{}
}

// start runs a worker in memory; change adapts its configuration.
func start(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := prepare(t, change...)
	serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
	b.run(t)
	synctest.Wait()
	return b
}

// prepare is start without a data service to register with, and without running.
func prepare(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{net: newNetwork(), data: &fakeData{}}
	cfg := config(b.net.rpc())
	cfg.Address = "w1:1"
	for _, c := range change {
		c(&cfg)
	}
	d, err := newOn(b.net.listen("w1:1"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Daemon = d
	b.sched = newScheduler(t, b.net, "s1", 1)
	return b
}

func (b *bench) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = b.Run(ctx)
	}()
	b.ended = ended
	b.stop = func() error {
		cancel()
		<-ended
		return err
	}
	t.Cleanup(func() {
		if b.hasEnded() {
			return // of itself: the test has seen why
		}
		if err := b.stop(); err != nil {
			t.Errorf("the worker ended with %v", err)
		}
	})
}

func (b *bench) hasEnded() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}

// sample reads the node's figures.
func (b *bench) sample() worker.Stats {
	synctest.Wait()
	return b.stats()
}
