package schedulerd

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"dodoor/internal/rpc/rpctest"
)

// BenchmarkSubmission compares, in one run, one scheduler (client → scheduler → worker sink) with a bare
// two-hop relay on the same library, transport and machine. Both answer one task per message.
func BenchmarkSubmission(b *testing.B) {
	const clients = 16
	slog.SetDefault(quiet) // the library's simple server reports every hang-up
	b.Run("bare-relay", func(b *testing.B) {
		sink, err := rpctest.StartSink()
		if err != nil {
			b.Fatal(err)
		}
		defer sink.Close()
		relay, err := rpctest.StartRelay(sink.Addr(), clients)
		if err != nil {
			b.Fatal(err)
		}
		defer relay.Close()
		submitAtRate(b, relay.Addr(), clients, func() {})
	})
	b.Run("scheduler", func(b *testing.B) {
		data := newData(b, "127.0.0.1:0")
		start(b, data)
		d := newReplica(b, data.Addr(), dodoor(b))
		d.deliveries.MaxBatch = 1
		start(b, d)
		var workers []*fakeWorker
		for i := range 10 {
			workers = append(workers, startWorker(b, fmt.Sprint("w", i), data.Addr()))
		}
		untilReady(b, d, len(workers))
		submitAtRate(b, d.Addr(), clients, func() { awaitHeld(b, workers, b.N) })
	})
}

// submitAtRate submits b.N tasks over several connections, one task per message, until delivered
// returns.
func submitAtRate(b *testing.B, addr string, clients int, delivered func()) {
	b.Helper()
	var submitters []*rpctest.Submitter
	for i := range clients {
		s, err := rpctest.NewSubmitter(addr, fmt.Sprint("c", i))
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		submitters = append(submitters, s)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for _, s := range submitters {
		group.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(b.N) {
					return
				}
				if err := s.Submit(b.Context(), "simulated", fmt.Sprint(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	delivered()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}
