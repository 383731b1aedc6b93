package localcluster

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

// production are the settings of a cluster that is to notice a death soon.
var production = []string{"worker.heartbeat=500ms", "datastore.node_timeout=2500ms", "scheduler.node_grace=1s", "class.laptop.count=4",
	"scheduler.replicas=2", "scheduler.replace_timeout=1m"}

// ends is how a worker comes to its end.
type ends struct {
	name     string
	silently bool // the machine is gone: nobody says that a connection has ended, or that there is none
}

// A worker that ends is no candidate any more after a second at the scheduler that uses it, after three at one that does
// not. What it held runs elsewhere.
func TestADeadWorkerIsNoticed(t *testing.T) {
	for _, c := range []ends{{"killed", false}, {"its machine is gone", true}} {
		t.Run(c.name, func(t *testing.T) {
			const victim = "laptop-2"
			var dead atomic.Bool
			var over chan struct{}
			network := rpctest.NewNetwork()
			network.Pass = func(m rpctest.Message) bool {
				if !dead.Load() || m.From != victim && m.To != victim+":1" {
					return true
				}
				if c.silently {
					<-over
				}
				return false
			}
			network.Refuses = func(addr string) bool { return dead.Load() && !c.silently && addr == victim+":1" }
			inMemoryOn(t, network, func(ctx context.Context, l *Cluster) {
				over = make(chan struct{})
				defer close(over)
				if err := l.AwaitWorkers(ctx); err != nil {
					t.Fatal(err)
				}
				user, idle := l.Schedulers[0], l.Schedulers[1]
				n := 0
				use := func() { // twenty tasks a second, of a fifth of a second each
					submitShort(t, ctx, user, fmt.Sprint("task-", n))
					n++
					pause(50 * time.Millisecond)
				}
				for range 60 {
					use()
				}
				dead.Store(true)
				since := time.Now()
				noticed := map[string]time.Duration{}
				for len(noticed) < 2 && time.Since(since) < time.Minute {
					use()
					for _, s := range []drive.Target{user, idle} {
						if _, known := noticed[s.Name]; !known && candidates(t, ctx, s) == 3 {
							noticed[s.Name] = time.Since(since)
						}
					}
				}
				if after := noticed[user.Name]; after == 0 || after > time.Second {
					t.Errorf("noticed after %v by the scheduler that uses it", after)
				}
				if after := noticed[idle.Name]; after == 0 || after > 3*time.Second {
					t.Errorf("noticed after %v by the other", after)
				}
				pause(10 * time.Second)
				counts, err := user.Service.Counters(ctx)
				if err != nil || counts["tasks.finished"] != int64(n) || counts["nodes"] != 3 {
					t.Errorf("%d tasks finished of %d, %d workers known (%v)", counts["tasks.finished"], n, counts["nodes"], err)
				}
			}, production...)
		})
	}
}

// A data service that cannot be reached for a minute, or that is wrong about a worker, is no reason not to place.
func TestWithoutTheDataServiceTasksArePlaced(t *testing.T) {
	var away atomic.Bool
	network := rpctest.NewNetwork()
	network.Pass = func(m rpctest.Message) bool {
		return !away.Load() || m.From != "datastore" && m.To != "datastore:1" || m.From == "generator"
	}
	network.Refuses = func(addr string) bool { return away.Load() && strings.HasPrefix(addr, "datastore") }
	inMemoryOn(t, network, func(ctx context.Context, l *Cluster) {
		if err := l.AwaitWorkers(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			away.Store(i >= 40 && i < 160)
			submitShort(t, ctx, l.Schedulers[i%2], fmt.Sprint("task-", i))
			pause(500 * time.Millisecond)
			if err := l.Ready(); err != nil {
				t.Fatalf("at %d: %v", i, err)
			}
			if got := candidates(t, ctx, l.Schedulers[0]); got != 4 {
				t.Fatalf("at %d: %d candidates", i, got)
			}
		}
		pause(10 * time.Second)
		for _, s := range l.Schedulers {
			if counts, err := s.Service.Counters(ctx); err != nil || counts["tasks.finished"] != 100 || counts["retries"] != 0 {
				t.Errorf("%s: %d finished, %d retries (%v)", s.Name, counts["tasks.finished"], counts["retries"], err)
			}
		}
	}, production...)
}

func submitShort(t *testing.T, ctx context.Context, s drive.Target, id string) {
	t.Helper()
	short := int64(200)
	task := cluster.TaskSpec{ID: id, Type: "sleep", Mode: "short", TimeScale: 1, Duration: &short, Demand: &cluster.Resources{100, 64}}
	refused, err := s.Service.Submit(ctx, cluster.SubmitRequest{Client: "me", Tasks: []cluster.TaskSpec{task}})
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
}

func candidates(t *testing.T, ctx context.Context, s drive.Target) int64 {
	t.Helper()
	counts, err := s.Service.Counters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return counts["candidates"]
}

func pause(d time.Duration) { <-time.After(d) }
