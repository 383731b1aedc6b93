package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// stuck has a cancel that answers only when it is released, but for the task "quick".
func stuck() (h *fakeScheduler, release chan bool) {
	release = make(chan bool)
	h = answering()
	h.cancel = func(_ context.Context, id string) (bool, error) {
		if id == "quick" {
			return false, nil
		}
		return <-release, nil
	}
	h.collect = func(_ context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
		<-release
		return cluster.CollectReply{Incarnation: 1}, nil
	}
	return h, release
}

// TestDeadlines: a call takes no longer than its context allows, CallTimeout where that says nothing,
// and a poll's wait on top of that.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		defer close(release)
		cfg := quiet()
		cfg.CallTimeout = 3 * time.Second
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		c := schedulerClient(t, "", client)
		within := func(want time.Duration, call func() error) {
			t.Helper()
			start := time.Now()
			err := call()
			if lasted := time.Since(start); lasted != want {
				t.Errorf("call lasted %v, want %v", lasted, want)
			}
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) || Refused(err) || NotSent(err) {
				t.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(background, 20*time.Second)
		defer cancel()
		within(3*time.Second, func() error { _, err := c.Cancel(background, "t"); return err })
		within(17*time.Second, func() error { _, err := c.Cancel(ctx, "t"); return err })
		within(33*time.Second, func() error {
			_, err := c.Collect(background, cluster.CollectRequest{Client: "c", Wait: 30 * time.Second})
			return err
		})
	})
}

// TestCancellation: a call returns as soon as its caller gives up, and that is no fault of the peer.
func TestCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		defer close(release)
		counters := &Counters{}
		cfg := quiet()
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		client.Observer = counters
		c := schedulerClient(t, "", client)
		ctx, cancel := context.WithCancel(background)
		failed := make(chan error)
		go func() { _, err := c.Cancel(ctx, "t"); failed <- err }()
		synctest.Wait()
		start := time.Now()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if lasted := time.Since(start); lasted != 0 {
			t.Errorf("returned after %v", lasted)
		}
		if _, err := c.Cancel(ctx, "t"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if n := counters.Requests(MethodCancel, Out); n != 1 {
			t.Errorf("%d requests sent, want 1: the second caller had given up before", n)
		}
	})
}

// TestLateReplies: the reply to a call that timed out is not taken for the reply to the next.
func TestLateReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		cfg := quiet()
		cfg.PoolSize = 1
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		c := schedulerClient(t, "", client)
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		if _, err := c.Cancel(ctx, "slow"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		release <- true
		for range 3 {
			if found, err := c.Cancel(background, "quick"); found || err != nil {
				t.Errorf("got %v, %v: the other call's reply", found, err)
			}
		}
	})
}

// TestPoolBound: PoolSize calls run at once, the others wait for their turn, within their deadline.
func TestPoolBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		cfg := quiet()
		cfg.PoolSize = 2
		var dialled atomic.Int32
		_, l, client := inMemory(t, SchedulerService(h, dims), cfg)
		client.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			dialled.Add(1)
			return l.Dial(ctx, addr)
		}
		c := schedulerClient(t, "", client)
		results := make(chan error)
		for range 6 {
			go func() { _, err := c.Cancel(background, "t"); results <- err }()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		if _, err := c.Cancel(ctx, "quick"); !NotSent(err) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("busy pool: %v", err)
		}
		for range 6 {
			release <- true
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := dialled.Load(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

// TestPollsDoNotBlockCalls: a client's long poll has its own connection.
func TestPollsDoNotBlockCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release := stuck()
		cfg := quiet()
		cfg.PoolSize = 1
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		c := schedulerClient(t, "", client)
		polled := make(chan error)
		go func() {
			_, err := c.Collect(background, cluster.CollectRequest{Client: "c", Wait: time.Minute})
			polled <- err
		}()
		synctest.Wait()
		if _, err := c.Cancel(background, "quick"); err != nil {
			t.Error(err)
		}
		release <- true
		if err := <-polled; err != nil {
			t.Error(err)
		}
	})
}

// TestConcurrentCalls: every caller gets its own answer.
func TestConcurrentCalls(t *testing.T) {
	h := answering()
	h.tasks = func(_ context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
		return []cluster.TaskStatus{{ID: q.ID, Type: "x", Phase: cluster.Running}}, nil
	}
	s := overTCP(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, s.Addr(), quiet())
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for j := range 50 {
				id := fmt.Sprintf("task-%d-%d", i, j)
				tasks, err := c.Tasks(background, cluster.TaskQuery{ID: id})
				if err != nil || len(tasks) != 1 || tasks[0].ID != id {
					t.Errorf("asked for %q, got %v, %v", id, tasks, err)
				}
			}
		})
	}
	callers.Wait()
}
