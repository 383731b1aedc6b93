package rpc

import (
	"context"
	"testing"

	"dodoor/internal/cluster"
)

// BenchmarkTLS is a placement in plaintext and over mutual TLS: on a connection that lasts, on eight of them, and on one that is made for
// it alone, which is what a restart costs each of those that come back.
func BenchmarkTLS(b *testing.B) {
	r := newRealm(b)
	h := &fakeWorker{enqueue: func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error) {
		return cluster.EnqueueReply{}, nil
	}}
	q := assignments(1)
	q.Scheduler.Name = s1.Name
	for _, transport := range []string{"plaintext", "tls"} {
		server, client := Default(), Default()
		if transport == "tls" {
			server.Bundle, client.Bundle = r.bundle(w1), r.bundle(s1)
		}
		client.PoolSize = 8
		s := overTCP(b, WorkerService(h, dims), server)
		c := workerClient(b, s.Addr(), client.To(w1.Name))
		enqueue := func(b *testing.B, c *WorkerClient) {
			if _, err := c.Enqueue(background, q); err != nil {
				b.Error(err)
			}
		}
		b.Run("serial/"+transport, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				enqueue(b, c)
			}
		})
		b.Run("parallel/"+transport, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					enqueue(b, c)
				}
			})
		})
		b.Run("connect/"+transport, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				once := NewWorkerClient(s.Addr(), dims, client.To(w1.Name))
				enqueue(b, once)
				once.Close()
			}
		})
	}
}
