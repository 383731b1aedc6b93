package rpc

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

func assignments(n int) cluster.Enqueue {
	q := cluster.Enqueue{Scheduler: validRef, NodeIncarnation: 1, Number: int64(n)}
	for i := range n {
		q.Assignments = append(q.Assignments, cluster.Assignment{Number: int64(i + 1), TaskID: fmt.Sprintf("task-%d", i),
			Type: "matmul", Mode: "long", Shape: cluster.Shape{Demand: validDemand, Duration: 1500}, TimeScale: 1})
	}
	return q
}

// BenchmarkEnqueue is one call after the other on one connection, to a worker that does nothing;
// per-task figures are what a placement costs.
func BenchmarkEnqueue(b *testing.B) {
	h := &fakeWorker{enqueue: func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error) {
		return cluster.EnqueueReply{}, nil
	}}
	s := overTCP(b, WorkerService(h, dims), Default())
	c := workerClient(b, s.Addr(), Default())
	for _, n := range []int{1, 16} {
		q := assignments(n)
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Enqueue(background, q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

// BenchmarkEnqueueParallel has eight callers on eight connections.
func BenchmarkEnqueueParallel(b *testing.B) {
	h := &fakeWorker{enqueue: func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error) {
		return cluster.EnqueueReply{}, nil
	}}
	s := overTCP(b, WorkerService(h, dims), Default())
	cfg := Default()
	cfg.PoolSize = 8
	c := workerClient(b, s.Addr(), cfg)
	q := assignments(1)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Enqueue(background, q); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkRelay is a submission over two hops, client, relay, sink: with the library alone (bare),
// and with the servers and clients of this package. The difference is what validation, bounds,
// deadlines and counting cost.
func BenchmarkRelay(b *testing.B) {
	sink, err := rpctest.StartSink()
	if err != nil {
		b.Fatal(err)
	}
	defer sink.Close()
	bare, err := rpctest.StartRelay(sink.Addr(), 1)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	w := overTCP(b, WorkerService(&fakeWorker{enqueue: func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error) {
		return cluster.EnqueueReply{}, nil
	}}, dims), Default())
	worker := workerClient(b, w.Addr(), Default())
	s := overTCP(b, SchedulerService(&fakeScheduler{submit: func(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
		t := &r.Tasks[0]
		_, err := worker.Enqueue(ctx, cluster.Enqueue{Scheduler: validRef, NodeIncarnation: 1, Number: 1,
			Assignments: []cluster.Assignment{{Number: 1, TaskID: t.ID, Type: t.Type, Mode: t.Mode,
				Shape: cluster.Shape{Demand: *t.Demand, Duration: *t.Duration}, TimeScale: t.TimeScale}}})
		return nil, err
	}}, dims), Default())
	for _, relay := range []struct{ name, addr string }{{"bare", bare.Addr()}, {"rpc", s.Addr()}} {
		c, err := rpctest.NewSubmitter(relay.addr, "client")
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.Run(relay.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Submit(background, "matmul", "task"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func largeSnapshot(n int) cluster.Snapshot {
	s := cluster.Snapshot{Incarnation: 1, Version: 7, ReceiverIncarnation: 1, Load: make([]cluster.Load, n),
		ReportSequence: make([]int64, n), OwnNumber: make([]int64, n), Node: make([]int32, n)}
	for j := range s.Node {
		s.Node[j] = int32(j)
		s.Load[j] = cluster.LoadOf(cluster.Shape{Demand: cluster.Resources{int64(j), int64(2 * j)}, Duration: 1000})
		s.ReportSequence[j], s.OwnNumber[j] = int64(3*j), int64(j)
	}
	return s
}

// BenchmarkSnapshot is a push of 10,000 nodes, without the network.
func BenchmarkSnapshot(b *testing.B) {
	standard := cluster.Standard()
	s := largeSnapshot(10_000)
	b.Run("encode", func(b *testing.B) {
		buffer, protocol := memoryProtocol(nil)
		b.ReportAllocs()
		for b.Loop() {
			buffer.Reset()
			if err := (encoder{standard}).snapshot(&s).Write(background, protocol); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(buffer.Len()), "bytes")
	})
	buffer, protocol := memoryProtocol(nil)
	encoder{standard}.snapshot(&s).Write(background, protocol)
	encoded := buffer.Bytes()
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, d := dodoor.NewSnapshot(), decoder{dims: standard}
			_, protocol := memoryProtocol(encoded)
			if err := w.Read(background, protocol); err != nil {
				b.Fatal(err)
			}
			if d.snapshot(w); d.err != nil {
				b.Fatal(d.err)
			}
		}
	})
}

// BenchmarkProtocols is why the stack uses the compact protocol: a third of the bytes, in less time.
func BenchmarkProtocols(b *testing.B) {
	s, q := largeSnapshot(10_000), assignments(1)
	messages := map[string]struct {
		full  thrift.TStruct
		empty func() thrift.TStruct
	}{
		"snapshot": {encoder{dims}.snapshot(&s), func() thrift.TStruct { return dodoor.NewSnapshot() }},
		"enqueue":  {encoder{dims}.enqueue(&q), func() thrift.TStruct { return dodoor.NewEnqueueRequest() }},
	}
	protocols := map[string]thrift.TProtocolFactory{
		"binary":  thrift.NewTBinaryProtocolFactoryConf(nil),
		"compact": thrift.NewTCompactProtocolFactoryConf(nil),
	}
	for message, w := range messages {
		for name, factory := range protocols {
			b.Run(message+"/"+name, func(b *testing.B) {
				buffer := thrift.NewTMemoryBuffer()
				protocol := factory.GetProtocol(buffer)
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					if err := w.full.Write(background, protocol); err != nil {
						b.Fatal(err)
					}
					size = buffer.Len()
					if err := w.empty().Read(background, protocol); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}
