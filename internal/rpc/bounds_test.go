package rpc

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

// TestTooManyConnections: the one that has been idle for longest leaves for another, those before that have said nothing; only where
// all are busy is the newcomer closed at once.
func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := &Counters{}
		cfg := quiet()
		cfg.MaxConnections, cfg.Limits.PeerConnections, cfg.Observer = 2, 2, counters
		h := answering()
		h.collect = func(ctx context.Context, _ cluster.CollectRequest) (cluster.CollectReply, error) {
			<-ctx.Done()
			return cluster.CollectReply{Incarnation: 1}, nil
		}
		s, l, client := inMemory(t, SchedulerService(h, dims), cfg)
		known := dialMemory(t, l)
		askFirst(t, known)
		<-time.After(time.Second)
		silent := dialMemory(t, l)
		synctest.Wait()
		if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "all 2 connections are taken") {
			t.Errorf("ready: %v", err)
		}
		answers(t, schedulerClient(t, "", client))
		if waited := hangsUp(t, silent); waited != 0 {
			t.Errorf("the silent one was closed after %v", waited)
		}
		askFirst(t, known)
		<-time.After(time.Second)
		third := dialMemory(t, l)
		askFirst(t, third) // closes that of the client
		for range 2 {      // closes known, and third
			client.CallTimeout = time.Hour
			go schedulerClient(t, "", client).Collect(background, cluster.CollectRequest{Client: "c", Wait: time.Minute})
			synctest.Wait()
		}
		hangsUp(t, known)
		hangsUp(t, third)
		if n := counters.Events(EvictedConnection); n != 4 {
			t.Errorf("%d evicted, want 4", n)
		}
		if waited := hangsUp(t, dialMemory(t, l)); waited != 0 {
			t.Errorf("rejected after %v", waited)
		}
		if n := counters.Events(RejectedPeer); n != 1 {
			t.Errorf("%d rejected, want 1", n)
		}
	})
}

// TestHandlerBound: at most MaxHandlers requests run at once; a long poll is not one of them.
func TestHandlerBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.MaxHandlers, cfg.PoolSize = 3, 10
		var running atomic.Int32
		release := make(chan struct{})
		h := &fakeScheduler{
			settle: func(context.Context) error { running.Add(1); defer running.Add(-1); <-release; return nil },
			collect: func(context.Context, cluster.CollectRequest) (cluster.CollectReply, error) {
				return cluster.CollectReply{Incarnation: 1}, nil
			},
		}
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		c := schedulerClient(t, "", client)
		results := make(chan error)
		for range 10 {
			go func() { results <- c.Settle(background) }()
		}
		synctest.Wait()
		if n := running.Load(); n != 3 {
			t.Errorf("%d handlers run, want 3", n)
		}
		if _, err := c.Collect(background, cluster.CollectRequest{Client: "c"}); err != nil {
			t.Errorf("long poll: %v", err)
		}
		for range 10 {
			release <- struct{}{}
			synctest.Wait()
			if n := running.Load(); n > 3 {
				t.Errorf("%d handlers run", n)
			}
		}
		for range 10 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestUnreadRepliesHoldNoHandler: a peer that does not read its reply keeps its connection until
// MessageTimeout, but no handler slot.
func TestUnreadRepliesHoldNoHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.MaxHandlers = 1
		_, l, client := inMemory(t, SchedulerService(answering(), dims), cfg)
		dialMemory(t, l).Write(cancelRequest(t, "t"))
		synctest.Wait()
		start := time.Now()
		answers(t, schedulerClient(t, "", client))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

// failingListener fails a number of times before it accepts.
type failingListener struct {
	*rpctest.Listener
	failures atomic.Int32
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// TestAcceptIsRetried: too many open files do not end the service.
func TestAcceptIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := &Counters{}
		cfg := quiet()
		cfg.Observer, cfg.DialTimeout = counters, time.Minute
		l := &failingListener{Listener: rpctest.NewListener()}
		l.failures.Store(12)
		run(t, NewServer(l, SchedulerService(answering(), dims), cfg))
		cfg.Dial = l.Dial
		start := time.Now()
		answers(t, schedulerClient(t, "", cfg))
		// 10+20+...+640 ms, then 1 s each.
		if waited := time.Since(start); waited != 1270*time.Millisecond+5*time.Second {
			t.Errorf("accepted after %v", waited)
		}
		if n := counters.Events(AcceptFailed); n != 12 {
			t.Errorf("%d failed accepts, want 12", n)
		}
	})
}

// TestLostListenerIsAnError: a listener that somebody else closes ends the service, but not silently.
func TestLostListenerIsAnError(t *testing.T) {
	l := rpctest.NewListener()
	s := NewServer(l, SchedulerService(answering(), dims), quiet())
	l.Close()
	if err := s.Serve(background); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestAddressInUse(t *testing.T) {
	s := overTCP(t, SchedulerService(answering(), dims), quiet())
	if _, err := Listen(s.Addr(), SchedulerService(answering(), dims), quiet()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v", err)
	}
}
