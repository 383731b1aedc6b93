package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

// TestPromptStop: idle clients do not delay the end, and see it at once.
func TestPromptStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := rpctest.NewListener()
		stop := run(t, NewServer(l, SchedulerService(answering(), dims), quiet()))
		cfg := quiet()
		cfg.Dial = l.Dial
		for range 20 {
			answers(t, schedulerClient(t, "", cfg))
		}
		conn := dialMemory(t, l)
		start := time.Now()
		stop()
		if lasted := time.Since(start); lasted != 0 {
			t.Errorf("stopped after %v", lasted)
		}
		hangsUp(t, conn)
	})
}

// TestStopFinishesRequests: a running request is answered; its connection takes no further one, and
// new connections are refused.
func TestStopFinishesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := answering()
		h.settle = func(ctx context.Context) error { <-release; return ctx.Err() }
		l := rpctest.NewListener()
		s := NewServer(l, SchedulerService(h, dims), quiet())
		ctx, cancel := context.WithCancel(background)
		served := make(chan error)
		go func() { served <- s.Serve(ctx) }()
		cfg := quiet()
		cfg.Dial = l.Dial
		c := schedulerClient(t, "", cfg)
		settled := make(chan error)
		go func() { settled <- c.Settle(background) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if _, err := c.Cancel(background, "t"); !Refused(err) || !NotSent(err) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a new connection: %v, want it refused", err)
		}
		close(release)
		if err := <-settled; err != nil {
			t.Errorf("running request: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestStopEndsHandlersAfterGrace: a handler that ends when its context does, ends with the grace period, and
// its caller is told that the service stops.
func TestStopEndsHandlersAfterGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := answering()
		h.settle = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		cfg := quiet()
		cfg.StopGrace = 3 * time.Second
		l := rpctest.NewListener()
		stop := run(t, NewServer(l, SchedulerService(h, dims), cfg))
		cfg.Dial = l.Dial
		c := schedulerClient(t, "", cfg)
		settled := make(chan error)
		go func() { settled <- c.Settle(background) }()
		synctest.Wait()
		start := time.Now()
		go stop()
		if err := <-settled; !errors.Is(err, cluster.Draining) && !errors.Is(err, ErrUnavailable) {
			t.Errorf("caller got %v", err)
		}
		if lasted := time.Since(start); lasted != 3*time.Second {
			t.Errorf("ended after %v, want 3s", lasted)
		}
		synctest.Wait()
	})
}

// TestStopDoesNotWaitForever: a handler that ignores its context is reported and left behind.
func TestStopDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		h := answering()
		h.settle = func(context.Context) error { <-release; return nil }
		l := rpctest.NewListener()
		s := NewServer(l, SchedulerService(h, dims), quiet())
		served := make(chan error)
		go func() { served <- s.Serve(background) }()
		cfg := quiet()
		cfg.Dial = l.Dial
		c := schedulerClient(t, "", cfg)
		go c.Settle(background)
		synctest.Wait()
		s.Close()
		if err := <-served; err == nil || !strings.Contains(err.Error(), "1 handlers still running") {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestStopWakesLongPolls: a handler that waits for something is told first, so that it can answer
// with what it has.
func TestStopWakesLongPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := answering()
		h.collect = func(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
			select {
			case <-ctx.Done():
			case <-time.After(r.Wait):
			}
			return cluster.CollectReply{Cursor: 7, Incarnation: 1}, nil
		}
		l := rpctest.NewListener()
		stop := run(t, NewServer(l, SchedulerService(h, dims), quiet()))
		cfg := quiet()
		cfg.Dial = l.Dial
		c := schedulerClient(t, "", cfg)
		collected := make(chan cluster.CollectReply)
		go func() {
			reply, _ := c.Collect(background, cluster.CollectRequest{Client: "c", Wait: time.Minute})
			collected <- reply
		}()
		synctest.Wait()
		start := time.Now()
		go stop()
		if reply := <-collected; reply.Cursor != 7 {
			t.Errorf("got %+v", reply)
		}
		if lasted := time.Since(start); lasted != 0 {
			t.Errorf("stopped after %v", lasted)
		}
		synctest.Wait()
	})
}

// TestCloseBeforeServe: a server that is closed first does not serve.
func TestCloseBeforeServe(t *testing.T) {
	s, err := Listen("127.0.0.1:0", SchedulerService(answering(), dims), quiet())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	if err := s.Serve(background); err != nil {
		t.Errorf("Serve: %v", err)
	}
}
