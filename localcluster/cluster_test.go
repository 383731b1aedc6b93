package localcluster

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inMemory starts the services of a configuration on a network in memory, and ends them when do returns.
func inMemory(t *testing.T, do func(ctx context.Context, l *Cluster), sets ...string) {
	t.Helper()
	inMemoryOn(t, rpctest.NewNetwork(), do, sets...)
}

func inMemoryOn(t *testing.T, network *rpctest.Network, do func(ctx context.Context, l *Cluster), sets ...string) {
	t.Helper()
	c, err := conf.Load("single", append([]string{"worker.executor=sleep", "worker.drain_timeout=1s", "scheduler.drain_timeout=1s"}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		l, err := Start(c, slog.New(slog.DiscardHandler), network)
		if err != nil {
			t.Fatal(err)
		}
		do(t.Context(), l)
		l.Stop()
		network.Wait()
	})
}

// A cluster is up when every scheduler knows every worker, and says so from then on.
func TestAwaitWorkers(t *testing.T) {
	inMemory(t, func(ctx context.Context, l *Cluster) {
		if err := l.AwaitWorkers(ctx); err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Schedulers {
			if counts, err := s.Service.Counters(ctx); err != nil || counts["candidates"] != 3 {
				t.Errorf("%s knows %d workers, %v", s.Name, counts["candidates"], err)
			}
		}
		if err := l.Ready(); err != nil || len(l.Workers()) != 3 || len(l.Schedulers) != 2 {
			t.Errorf("%v, workers %v, %d schedulers", err, l.Workers(), len(l.Schedulers))
		}
	}, "class.laptop.count=3", "scheduler.replicas=2")
}

// A cluster that still holds a task does not settle: whoever accounts it says where and what.
func TestSettleSaysWhatIsLeft(t *testing.T) {
	inMemory(t, func(ctx context.Context, l *Cluster) {
		if err := l.AwaitWorkers(ctx); err != nil {
			t.Fatal(err)
		}
		if err := l.Settle(ctx); err != nil {
			t.Errorf("an idle cluster: %v", err)
		}
		hour := time.Hour.Milliseconds()
		task := cluster.TaskSpec{ID: "a", Type: "sleep", Mode: "short", TimeScale: 1, Duration: &hour, Demand: &cluster.Resources{1000, 64}}
		request := cluster.SubmitRequest{Client: "me", Tasks: []cluster.TaskSpec{task}}
		if refused, err := l.Schedulers[0].Service.Submit(ctx, request); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		err := l.Settle(limited)
		if err == nil || !strings.Contains(err.Error(), "data service accounts {Demand:[1000 64") ||
			!strings.Contains(err.Error(), "on idle worker laptop-1: ") || !strings.HasSuffix(err.Error(), "context deadline exceeded") {
			t.Errorf("got %v", err)
		}
	})
}
