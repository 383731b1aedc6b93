package datastored

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// newest returns the last snapshot that a scheduler got.
func (s *fakeScheduler) newest(t *testing.T) cluster.Snapshot {
	t.Helper()
	pushed := s.snapshots()
	if len(pushed) == 0 {
		t.Fatalf("%s got no push", s.ref.Name)
	}
	return pushed[len(pushed)-1]
}

// Workers come, drain and leave without a single decision, and schedulers hear of it within a tick.
func TestRosterChangesArePushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.NodeTimeout = 10 * time.Second })
		s := b.scheduler(t, "s1")
		b.nodes(t, "w1", "w2")
		if p := s.newest(t); p.Roster == nil || len(p.Roster.Nodes) != 2 {
			t.Fatalf("newest %+v, want two nodes", p)
		}
		for i := range int64(30) { // w2 is silent
			report := cluster.Report{Node: "w1", Incarnation: 1, Sequence: i + 1, Draining: i >= 5}
			if err := b.client.Report(t.Context(), report); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		pushed := s.snapshots()
		if len(pushed) != 3 {
			t.Fatalf("%d pushes, want one for each change of the roster", len(pushed))
		}
		if r := pushed[1].Roster; r == nil || len(r.Nodes) != 2 || !r.Nodes[0].Draining || r.Nodes[1].Draining {
			t.Errorf("second: %+v, want w1 draining", pushed[1].Roster)
		}
		if r := pushed[2].Roster; r == nil || len(r.Nodes) != 1 || r.Nodes[0].Name != "w1" {
			t.Errorf("third: %+v, want w1 alone", pushed[2].Roster)
		}
		if gone := s.at[2].Sub(s.at[0]); gone < 10*time.Second || gone > 10*time.Second+3*datastore.TickEvery {
			t.Errorf("w2 was gone after %v, want 10s and a tick", gone)
		}
		if err := b.client.UnregisterNode(t.Context(), "w1", 1); err != nil {
			t.Fatal(err)
		}
		pass(datastore.TickEvery)
		if p := s.newest(t); p.Roster == nil || len(p.Roster.Nodes) != 0 {
			t.Errorf("newest %+v, want no node", p.Roster)
		}
		if err := b.client.Report(t.Context(), cluster.Report{Node: "w1", Incarnation: 1, Sequence: 99}); !errors.Is(err, cluster.UnknownNode) {
			t.Errorf("report of a worker that left: %v", err)
		}
	})
}

// At low rates batches alone would leave views minutes old: max_staleness bounds that.
func TestStalenessBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Store.MaxStaleness = time.Second })
		b.nodes(t, "w1")
		s := b.scheduler(t, "s1")
		pass(time.Minute)
		s.forget(nil)
		s.flush(t, 1, "w1")
		pass(time.Minute)
		if pushed := s.snapshots(); len(pushed) != 1 || pushed[0].Load[0].Tasks != 1 {
			t.Errorf("pushes %+v, want one", pushed)
		}
	})
}

// Settle pushes whatever the batch holds, and returns when everybody has answered.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		slow, quick := b.scheduler(t, "slow"), b.scheduler(t, "quick")
		slow.forget(func(int, *cluster.Snapshot) error { <-time.After(2 * time.Second); return nil })
		quick.flush(t, 3, "w1")
		before := time.Now()
		if err := b.client.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(before); took != 2*time.Second {
			t.Errorf("settled after %v, want as long as the slow scheduler takes", took)
		}
		for _, s := range []*fakeScheduler{slow, quick} {
			if p := s.newest(t); p.Load[0].Tasks != 3 || p.Decisions != 3 {
				t.Errorf("%s has %+v, want three tasks", s.ref.Name, p)
			}
		}
	})
}

// Settle waits for nobody who is gone, and no longer than its caller does.
func TestSettleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		dead, silent := b.scheduler(t, "dead"), b.scheduler(t, "silent")
		dead.stop()
		if err := b.client.Settle(t.Context()); err != nil {
			t.Errorf("with a dead scheduler: %v", err)
		}
		gate := make(chan struct{})
		defer close(gate)
		silent.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Settle(ctx); err != context.DeadlineExceeded {
			t.Errorf("with a silent scheduler: %v, want its caller's deadline", err)
		}
		settled := make(chan error)
		go func() { settled <- b.client.Settle(context.Background()) }()
		synctest.Wait()
		if err := b.client.UnregisterScheduler(t.Context(), "silent", 1); err != nil {
			t.Fatal(err)
		}
		if err := <-settled; err != nil {
			t.Errorf("after the silent scheduler left: %v", err)
		}
	})
}

// The data service stops at once, whatever is under way; who waits for a push is told that it stops.
func TestPromptStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.nodes(t, "w1")
		silent := b.scheduler(t, "silent")
		gate := make(chan struct{})
		defer close(gate)
		silent.forget(func(int, *cluster.Snapshot) error { <-gate; return nil })
		settled := make(chan error)
		go func() { settled <- b.client.Settle(context.Background()) }()
		synctest.Wait()
		before := time.Now()
		go b.stop()
		if err := <-settled; !errors.Is(err, cluster.Draining) {
			t.Errorf("settle: %v, want draining", err)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("stopped after %v", took)
		}
		if n := b.net.connections("silent:1"); n != 0 {
			t.Errorf("%d connections are open", n)
		}
		if b.Ready() == nil {
			t.Error("ready after the end")
		}
	})
}

func TestBrokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.scheduler(t, "s1")
		b.net.listeners["data:1"].Close()
		synctest.Wait()
		if !b.hasEnded() {
			t.Fatal("runs on")
		}
		if err := b.stop(); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("ended with %v", err)
		}
	})
}
