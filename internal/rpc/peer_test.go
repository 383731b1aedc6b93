package rpc

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

// TestPeerRestart: while the peer is gone, calls are refused; once it is back, the first call
// succeeds, although the pool still holds connections to the process before.
func TestPeerRestart(t *testing.T) {
	s, err := Listen("127.0.0.1:0", SchedulerService(answering(), dims), quiet())
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, s)
	counters := &Counters{}
	cfg := quiet()
	cfg.Observer = counters
	c := schedulerClient(t, s.Addr(), cfg)
	for range 3 {
		answers(t, c)
		stop()
		if _, err := c.Cancel(background, "t"); !Refused(err) || !NotSent(err) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("while the peer is gone: %v", err)
		}
		s, err = Listen(s.Addr(), SchedulerService(answering(), dims), quiet())
		if err != nil {
			t.Fatal(err)
		}
		stop = run(t, s)
		answers(t, c)
		stop()
		s, err = Listen(s.Addr(), SchedulerService(answering(), dims), quiet())
		if err != nil {
			t.Fatal(err)
		}
		stop = run(t, s) // the idle connection is dead, and nobody has noticed yet
	}
	answers(t, c)
	if sent, failed := counters.Requests(MethodCancel, Out), counters.Events(DialFailed); sent != 7 || failed != 3 {
		t.Errorf("%d requests sent, %d dials failed; want 7 and 3", sent, failed)
	}
}

// TestPeerHangsUpDuringCall: an end of the connection while an answer is due is not a refusal: the
// request may have been carried out.
func TestPeerHangsUpDuringCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.Dial = func(context.Context, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				server.Read(make([]byte, 4096))
				server.Close()
			}()
			return client, nil
		}
		_, err := schedulerClient(t, "", cfg).Cancel(background, "t")
		if !errors.Is(err, ErrUnavailable) || Refused(err) || NotSent(err) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestSlowDial: making a connection has its own limit, within the call's.
func TestSlowDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.DialTimeout = 2 * time.Second
		cfg.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		start := time.Now()
		_, err := schedulerClient(t, "", cfg).Cancel(background, "t")
		if !NotSent(err) || !errors.Is(err, ErrUnavailable) || time.Since(start) != 2*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestCloseCutsCalls: whoever closes a client ends its calls.
func TestCloseCutsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		defer close(release)
		cfg := quiet()
		cfg.PoolSize = 1
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		c := schedulerClient(t, "", client)
		failed := make(chan error)
		for range 2 { // one waits for the other's connection
			go func() { _, err := c.Cancel(background, "t"); failed <- err }()
		}
		synctest.Wait()
		c.Close()
		for range 2 {
			if err := <-failed; !errors.Is(err, ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
		if _, err := c.Cancel(background, "t"); !errors.Is(err, ErrClosed) {
			t.Errorf("closed client: %v", err)
		}
	})
}

// TestBareServicesSpeakTheSameProtocol: the baseline of the benchmarks is one, because either end can
// be replaced by the library's own.
func TestBareServicesSpeakTheSameProtocol(t *testing.T) {
	var held []cluster.Assignment
	w := &fakeWorker{enqueue: func(_ context.Context, q cluster.Enqueue) (cluster.EnqueueReply, error) {
		held = q.Assignments
		return cluster.EnqueueReply{}, nil
	}}
	relay, err := rpctest.StartRelay(overTCP(t, WorkerService(w, dims), quiet()).Addr(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	refused, err := schedulerClient(t, relay.Addr(), quiet()).Submit(background, cluster.SubmitRequest{Client: "c",
		Tasks: []cluster.TaskSpec{{ID: "a", Type: "x", Demand: &validDemand, Duration: ptr(int64(7)), TimeScale: 2}}})
	want := cluster.Assignment{Number: 1, TaskID: "a", Type: "x", TimeScale: 2,
		Shape: cluster.Shape{Demand: validDemand, Duration: 7}}
	if err != nil || len(refused) != 0 || len(held) != 1 || held[0] != want {
		t.Errorf("got %v, %v; the worker got %+v", refused, err, held)
	}
}

// A connection that takes the place of its peer's last one is counted as every other.
func TestPlaceOfTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l, _, counters := limited(t, patient(), func(c *Config) { c.Limits.PeerConnections = 1 })
		for range 2 {
			dialMemory(t, l)
			synctest.Wait()
		}
		busy := dialMemory(t, l)
		go busy.Write(poll())
		synctest.Wait()
		if waited := hangsUp(t, dialMemory(t, l)); waited != 0 || counters.Events(RejectedPeer) != 1 || len(s.conns) != 1 {
			t.Errorf("rejected after %v, counted %v", waited, counters.Map())
		}
	})
}
