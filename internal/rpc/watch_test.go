package rpc

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A connection is good for the next caller, whatever became of the context of the last call: one that ended
// with its call leaves the connection as it is, and one that lasted takes it along.
func TestConnectionsOutliveContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled atomic.Int32
		_, l, client := inMemory(t, SchedulerService(answering(), dims), quiet())
		client.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			dialled.Add(1)
			return l.Dial(ctx, addr)
		}
		c := schedulerClient(t, "", client)
		call := func(ctx context.Context, connections int32) {
			t.Helper()
			if _, err := c.Cancel(ctx, "t"); err != nil || dialled.Load() != connections {
				t.Errorf("%v, over %d connections instead of %d", err, dialled.Load(), connections)
			}
		}
		for range 3 {
			ctx, cancel := context.WithCancel(background)
			call(ctx, 1)
			cancel()
			synctest.Wait()
		}
		lasting, cancel := context.WithCancel(background)
		for range 3 {
			call(lasting, 1)
		}
		call(background, 1)
		for range 3 {
			call(lasting, 1)
		}
		cancel()
		call(background, 2) // the first one is being closed
		call(background, 2)
	})
}
