package datastored

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

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
	"dodoor/internal/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dims = cluster.Standard()

// network is addresses in memory, so that services run inside a synctest bubble: time passes only
// when everybody waits for it, and every instant is exact.
type network struct {
	mu        sync.Mutex
	listeners map[string]*rpctest.Listener
	up        map[string]int // connections by address
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
	n.count(addr, 1)
	return &countedConn{Conn: conn, closed: sync.OnceFunc(func() { n.count(addr, -1) })}, nil
}

func (n *network) count(addr string, change int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up[addr] += change
}

// connections returns how many connections to an address are open.
func (n *network) connections(addr string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up[addr]
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

// config is a data service that pushes every ten decisions.
func config(r rpc.Config) Config {
	return Config{Store: datastore.Config{Batch: 10, NodeTimeout: time.Hour}, Listen: "127.0.0.1:0", Dimensions: dims, RPC: r,
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("datastore", "d")}
}

// bench is a data service in memory, and a client of it.
type bench struct {
	*Daemon
	net    *network
	client *rpc.DataClient
	stop   func() error // ends the data service and returns what Run returned
	ended  <-chan struct{}
}

// start runs a data service in memory; change adapts its configuration.
func start(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{net: &network{listeners: map[string]*rpctest.Listener{}, up: map[string]int{}}}
	cfg := config(b.net.rpc())
	for _, c := range change {
		c(&cfg)
	}
	d, err := newOn(b.net.listen("data:1"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Daemon, b.client = d, rpc.NewDataClient("data:1", dims, b.net.rpc())
	b.run(t)
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
		b.client.Close()
		if b.hasEnded() {
			return // of itself: the test has seen why
		}
		if err := b.stop(); err != nil {
			t.Errorf("the data service ended with %v", err)
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

// nodes registers workers and waits until every scheduler knows them.
func (b *bench) nodes(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		n := cluster.Node{Name: name, Address: name + ":1", Class: "any", Slots: 8, Incarnation: 1, Capacity: cluster.Resources{8000, 65536}}
		if _, err := b.client.RegisterNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	pass(2 * datastore.TickEvery)
}

// registered returns the names of the registered schedulers.
func (b *bench) registered(t *testing.T) (names []string) {
	t.Helper()
	synctest.Wait()
	status, err := b.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range status.Schedulers {
		names = append(names, s.Name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.receivers) != len(names) {
		t.Errorf("%d connections for the schedulers %v", len(b.receivers), names)
	}
	return names
}
