package reliability

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
)

var hostile = flag.Bool("hostile", false, "measure the figures of docs/security.md: some minutes on an idle machine")

// attack is peers that mean no good.
type attack struct {
	name  string
	peers int // with -hostile; otherwise a hundredth
	each  func(conn net.Conn)
}

// mostMemory is what a scheduler may take more than before, in MiB, whatever anybody sends to it.
const mostMemory = 64

var emptyTasks = sync.OnceValue(func() []byte { return rpctest.EmptyTasks(1 << 18) })

// attacks stay connected until the services hang up, or the test ends.
var attacks = []attack{
	{"connections that say nothing", 10_000, func(net.Conn) {}},
	{"connections that are idle after a request", 10_000, func(c net.Conn) { c.Write(rpctest.AskSetup()) }},
	{"slow-loris: a byte a second", 2_000, func(c net.Conn) {
		for _, b := range append(rpctest.Claim(100), make([]byte, 100)...) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			pause(context.Background(), time.Second)
		}
	}},
	{"messages of 4 GiB", 2_000, func(c net.Conn) { c.Write(rpctest.Claim(1<<32 - 1)) }},
	{"15 of a claimed 16 MiB", 60, func(c net.Conn) { c.Write(append(rpctest.Claim(16<<20), make([]byte, 15<<20)...)) }},
	{"262,144 empty tasks in a message", 100, func(c net.Conn) { c.Write(emptyTasks()) }},
	{"questions whose answers nobody reads", 100, func(c net.Conn) { c.Write(bytes.Repeat(rpctest.AskTasks(1<<16), 1000)) }},
}

// TestHostile: what peers send or leave undone neither costs much memory nor keeps others from being served. The hostile ones have an
// address of their own.
func TestHostile(t *testing.T) {
	perSecond, length := 20, 2*time.Second
	if *hostile {
		perSecond, length = 100, 12*time.Second
	}
	e := assemble(t, 1, 2)
	s := e.schedulers[0]
	calm := e.run(perSecond, 50*time.Millisecond, length, func(*client) {}).between(0, time.Hour)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			n := a.peers
			if !*hostile {
				n = max(1, n/100)
			}
			before, most := s.memory(), int64(0)
			served := e.run(perSecond, 50*time.Millisecond, length, func(*client) {
				most = a.during(t, s, n, length*3/4)
			}).between(0, time.Hour)
			after := s.memory()
			figure(t, fmt.Sprintf("%d × %s", n, a.name),
				"%d → at most %d → %d MiB; others: P50 %d → %d ms, P99 %d → %d ms, of %d tasks %d accepted, %d finished",
				before, most, after, calm.quantile(0.5).Milliseconds(), served.quantile(0.5).Milliseconds(), calm.quantile(0.99).Milliseconds(),
				served.quantile(0.99).Milliseconds(), served.offered, served.accepted, served.finished)
			if most-before > mostMemory || after-before > mostMemory {
				t.Errorf("memory %d, at most %d, then %d MiB", before, most, after)
			}
			served.well(t, s)
		})
	}
	t.Run("a client that submits and never collects", func(t *testing.T) { uncollected(t, e, 2*length) })
}

// well checks that others were served.
func (s *sums) well(t *testing.T, by *process) {
	if s.finished < s.accepted || s.accepted == 0 {
		t.Errorf("others: %d of %d tasks accepted, %d finished\n%s", s.accepted, s.offered, s.finished, by.of.log(by))
	}
}

// during attacks for a while, and returns the most memory that the scheduler took, in MiB.
func (a *attack) during(t *testing.T, s *process, n int, length time.Duration) (most int64) {
	var mu sync.Mutex
	var conns []net.Conn
	var work sync.WaitGroup
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 5 * time.Second}
	failed := 0
	slots := make(chan struct{}, 64) // who connect at once
	for range n {
		work.Go(func() {
			slots <- struct{}{}
			conn, err := from.Dial("tcp", s.address)
			<-slots
			mu.Lock()
			if err != nil {
				failed++
				mu.Unlock()
				return
			}
			conns = append(conns, conn)
			mu.Unlock()
			a.each(conn)
		})
	}
	end, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	for end.Err() == nil {
		pause(end, 50*time.Millisecond)
		most = max(most, s.memory())
	}
	mu.Lock()
	for _, c := range conns {
		c.Close()
	}
	mu.Unlock()
	work.Wait()
	if failed > 0 {
		t.Logf("%d of %d could not connect", failed, n)
	}
	return most
}

// uncollected submits tasks as a client that never collects, until it is refused, or for so long.
func uncollected(t *testing.T, e *ensemble, length time.Duration) {
	s := e.schedulers[0]
	before := s.memory()
	c := rpc.NewSchedulerClient(s.address, cluster.Standard(), rpc.Default())
	defer c.Close()
	demand, duration := cluster.Resources{cluster.Cores: 10, cluster.Memory: 1}, int64(1)
	accepted, end := 0, time.Now().Add(length)
	for round := 0; time.Now().Before(end); round++ {
		r := cluster.SubmitRequest{Client: "hoarder"}
		for i := range 128 {
			r.Tasks = append(r.Tasks, cluster.TaskSpec{ID: fmt.Sprintf("hoard-%d-%d", round, i), Type: "sleep", Demand: &demand,
				Duration: &duration, TimeScale: 1})
		}
		refused, err := c.Submit(t.Context(), r)
		if err != nil {
			pause(t.Context(), 100*time.Millisecond)
			continue
		}
		accepted += len(r.Tasks) - len(refused)
	}
	served := e.run(20, 50*time.Millisecond, 2*time.Second, func(*client) {}).between(0, time.Hour)
	figure(t, "a client that submits and never collects", "%d tasks of it accepted, %d → %d MiB; others: %d of %d accepted tasks finished",
		accepted, before, s.memory(), served.finished, served.accepted)
	served.well(t, s)
}
