package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// watched has a bundle read again when its files change, until the test ends.
func watched(t *testing.T, b *identity.Bundle) *identity.Bundle {
	ctx, cancel := context.WithCancel(background)
	var done sync.WaitGroup
	done.Go(func() { b.Watch(ctx, slog.New(slog.DiscardHandler)) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return b
}

// later lets time pass.
func later(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// connected is how many are.
func connected(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Whoever is revoked is hung up on, in the middle of a poll as well, and not let in again; others are left alone.
func TestRevokedWhileConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log, counters := newRealm(t), newLines(), &Counters{}
		h := answering()
		h.collect = func(_ context.Context, q cluster.CollectRequest) (cluster.CollectReply, error) {
			<-time.After(q.Wait)
			return cluster.CollectReply{}, nil
		}
		cfg := secured(watched(t, r.bundle(s1)), log)
		cfg.Observer = counters
		s, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		client.Bundle, client.Observer = r.bundle(alice), nil
		bad := schedulerClient(t, "", client)
		client.Bundle = r.bundle(operator)
		good := schedulerClient(t, "", client)
		answers(t, bad)
		answers(t, good)
		polled := make(chan error)
		go func() {
			_, err := bad.Collect(background, cluster.CollectRequest{Client: "c", Max: 1, Wait: time.Minute})
			polled <- err
		}()
		synctest.Wait()
		if n := connected(s); n != 3 {
			t.Errorf("%d connections, want 3", n)
		}
		r.revoke(alice, s1)
		if err := <-polled; !errors.Is(err, ErrUnavailable) {
			t.Errorf("the poll: %v", err)
		}
		later(time.Minute) // until the poll is over, which nobody hears of
		if n := connected(s); n != 1 || counters.Events(RefusedConnection) != 2 {
			t.Errorf("%d connections are left, %d were refused", n, counters.Events(RefusedConnection))
		}
		if n := strings.Count(log.String(), `msg="hung up"`); n != 2 || !strings.Contains(log.String(), "was revoked on") {
			t.Errorf("the log: %s", log)
		}
		if _, err := bad.Cancel(background, "t"); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "user alice was revoked on") {
			t.Errorf("the next call: %v", err)
		}
		answers(t, good)
		synctest.Wait()
		if n := connected(s); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
	})
}

// Whoever's certificate expires is hung up on soon, and told until when it was good.
func TestExpiredWhileConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := newRealm(t), newLines()
		s, _, client := inMemory(t, SchedulerService(answering(), dims), secured(r.bundle(s1), log))
		client.Bundle = r.between(alice, -time.Minute, time.Hour)
		c := schedulerClient(t, "", client)
		answers(t, c)
		later(time.Hour)
		answers(t, c)
		later(overseeEvery + time.Second)
		if n := connected(s); n != 0 || !strings.Contains(log.String(), "expired 2000-01-01 01:00 UTC") {
			t.Errorf("%d connections are left: %s", n, log)
		}
		_, err := c.Cancel(background, "t")
		if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "the certificate of user alice expired 2000-01-01 01:00 UTC") {
			t.Errorf("got %v", err)
		}
	})
}

// A server whose certificate expires is not asked any more, although the connection is there.
func TestServerExpiresWhileConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm(t)
		_, _, client := inMemory(t, SchedulerService(answering(), dims), secured(r.between(s1, -time.Minute, time.Hour), nil))
		client.Bundle = r.bundle(alice)
		c := schedulerClient(t, "", client)
		answers(t, c)
		later(time.Hour + time.Second)
		_, err := c.Cancel(background, "t")
		if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "the certificate of scheduler scheduler-1 expired") {
			t.Errorf("got %v", err)
		}
	})
}

// Certificates are renewed at both ends while calls go on: none of them fails, and the new ones count long after the old ones have ended.
func TestRenewedWhileConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm(t)
		server, client := watched(t, r.between(s1, -time.Minute, time.Hour)), watched(t, r.between(alice, -time.Minute, time.Hour))
		h := answering()
		h.cancel = func(context.Context, string) (bool, error) {
			<-time.After(20 * time.Millisecond)
			return true, nil
		}
		_, l, cfg := inMemory(t, SchedulerService(h, dims), secured(server, nil))
		dialled := 0
		cfg.Bundle, cfg.PoolSize = client, 1
		cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			dialled++
			return l.Dial(ctx, addr)
		}
		c := schedulerClient(t, "", cfg)
		var calls sync.WaitGroup
		for _, renewed := range []identity.Identity{alice, s1} {
			ctx, cancel := context.WithTimeout(background, time.Minute)
			calls.Go(func() {
				for ctx.Err() == nil {
					answers(t, c)
				}
			})
			later(10 * time.Second)
			if err := r.Issue(renewed, r.at(renewed), 100*time.Hour); err != nil {
				t.Fatal(err)
			}
			calls.Wait()
			cancel()
		}
		if dialled != 2 {
			t.Errorf("%d connections were made, want one, and another one when the client's certificate was renewed", dialled)
		}
		later(2 * time.Hour)
		answers(t, c)
	})
}

// What others do wrong fills no log: some lines at once, then one a second, which says how many were left out.
func TestSeldom(t *testing.T) {
	log, now := newLines(), time.Unix(1000, 0)
	var s seldom
	for range 100 {
		s.warn(log.log(), now, "wrong")
	}
	if n := strings.Count(log.String(), "wrong"); n != seldomBurst || strings.Contains(log.String(), "left_out") {
		t.Errorf("%d lines at once: %s", n, log)
	}
	for range 10 {
		s.warn(log.log(), now.Add(seldomEvery), "wrong")
	}
	if n := strings.Count(log.String(), "wrong"); n != seldomBurst+1 || !strings.Contains(log.String(), "lines_left_out=92") {
		t.Errorf("%d lines: %s", n, log)
	}
	for range 100 {
		s.warn(log.log(), now.Add(time.Hour), "wrong")
	}
	if n := strings.Count(log.String(), "wrong"); n != 2*seldomBurst+1 || !strings.Contains(log.String(), "lines_left_out=9\n") {
		t.Errorf("%d lines an hour later: %s", n, log)
	}
}
