package schedulerd

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// BenchmarkAccepted submits over many connections to a scheduler with a journal, and to one without: how many tasks are accepted a
// second, and how long a submission takes. An operation is one message of so many tasks.
func BenchmarkAccepted(b *testing.B) {
	for _, keeps := range []bool{false, true} {
		for _, tasks := range []int{1, 16} {
			b.Run(fmt.Sprintf("journal=%v/tasks=%d", keeps, tasks), func(b *testing.B) { benchAccepted(b, keeps, tasks) })
		}
	}
}

func benchAccepted(b *testing.B, keeps bool, tasks int) {
	const clients = 64
	data := newData(b, "127.0.0.1:0")
	start(b, data)
	cfg := replicaConfig(data.Addr(), dodoor(b))
	if keeps {
		cfg = keeping(b, data.Addr(), b.TempDir())
	}
	cfg.Replica.MaxPending = 1 << 30
	d := newDaemon(b, cfg)
	start(b, d)
	var workers []*fakeWorker
	for i := range 10 {
		workers = append(workers, startWorker(b, fmt.Sprint("w", i), data.Addr()))
	}
	untilReady(b, d, len(workers))
	var next atomic.Int64
	took := make([][]time.Duration, clients)
	var group sync.WaitGroup
	b.ResetTimer()
	for c := range clients {
		group.Go(func() {
			client := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
			defer client.Close()
			specs := make([]cluster.TaskSpec, tasks)
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				for k := range specs {
					specs[k] = spec(fmt.Sprintf("t%d-%d", i, k))
				}
				begin := time.Now()
				if _, err := client.Submit(b.Context(), cluster.SubmitRequest{Client: "c", Tasks: specs}); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(begin))
			}
		})
	}
	group.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all)*tasks)/b.Elapsed().Seconds(), "tasks/s")
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(all[(len(all)-1)*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
	}
}

// BenchmarkTakenUp starts a scheduler whose journal has 200,000 live tasks.
func BenchmarkTakenUp(b *testing.B) {
	const live, group = 200_000, 1000
	data := newData(b, "127.0.0.1:0")
	start(b, data)
	cfg := keeping(b, data.Addr(), b.TempDir())
	d := newDaemon(b, cfg)
	stop := start(b, d)
	startWorker(b, "w1", data.Addr())
	untilReady(b, d, 1)
	for i := range live / group {
		request := cluster.SubmitRequest{Client: "c"}
		for k := range group {
			request.Tasks = append(request.Tasks, spec(fmt.Sprintf("task-%08d", i*group+k)))
		}
		if refused, err := d.Submit(b.Context(), request); err != nil || len(refused) > 0 {
			b.Fatal(len(refused), err)
		}
	}
	stop()
	for b.Loop() {
		d := newDaemon(b, cfg)
		if n := d.replica.Pending(); n != live {
			b.Fatal(n)
		}
		d.server.Close()
		d.record.close()
	}
}
