package sim

import (
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// known reports whether the data service has exactly this process of a scheduler registered.
func known(s *Simulation, sched int) bool {
	ref := &s.schedulers[sched].ref
	return s.data.store.CheckScheduler(s.data.now(), ref.Name, ref.Incarnation) == nil
}

// A data service that returns is found again: by a scheduler with its next flush, and by one that does not flush
// when it looks, every two seconds.
func TestSchedulersRegisterAgain(t *testing.T) {
	for policy, within := range map[string]time.Duration{"dodoor": 1300 * time.Millisecond, "random": 2100 * time.Millisecond} {
		cfg := tiny(t, policy, 2)
		requests := 40
		cfg = cfg.with(t, requests)
		cfg.Replica.DeltaBatch = 1
		cfg.Faults = []Fault{{What: "datastore", At: 900 * time.Millisecond, Until: 1000 * time.Millisecond}}
		s := start(t, cfg)
		var before, after bool
		s.later(1100*time.Millisecond, func() { before = known(s, 0) })
		s.later(within, func() { after = known(s, 0) })
		// A placement makes the scheduler flush.
		s.later(1150*time.Millisecond, func() {
			spec := cfg.Workload.Task(0)
			spec.ID = "one more"
			actions, refusal := s.schedulers[0].replica.Submit(s.now, "somebody else", &spec)
			if refusal != nil {
				t.Error(refusal)
			}
			s.schedulers[0].perform(actions)
		})
		if _, err := s.run(); err != nil {
			t.Fatal(err)
		}
		if before || !after {
			t.Errorf("%s: registered after 100 ms: %v, at %v: %v", policy, before, within, after)
		}
	}
}

// The answer to a push that the scheduler's former process did not take says nothing about the next one.
func TestPushesToAFormerProcess(t *testing.T) {
	cfg := tiny(t, "dodoor", 1)
	cfg.Network.Delay = 50 * time.Millisecond
	cfg.Faults = []Fault{{What: "scheduler", Name: "scheduler-1", At: 200 * time.Millisecond, Until: 201 * time.Millisecond}}
	s := start(t, cfg)
	var lost datastore.Push
	s.later(190*time.Millisecond, func() { // it arrives at nobody
		actions, _ := s.data.store.Settle(s.now)
		lost = actions.Push[0]
		s.data.perform(actions)
	})
	s.later(310*time.Millisecond, func() {
		if !known(s, 0) {
			t.Error("the new process has not registered")
		}
		m := s.take(push)
		m.push, m.origin, m.failed, m.unsent = lost, s.data.epoch, true, true
		s.data.pushAnswered(m)
		if !known(s, 0) {
			t.Error("the former process's silence unregistered the new one")
		}
	})
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// A scheduler that lacks what a push builds on gets everything.
func TestAGapIsFilled(t *testing.T) {
	s := finished(t, "dodoor")
	s.drain()
	actions, _ := s.data.store.Settle(s.now)
	m := s.take(push)
	m.push, m.origin, m.code = actions.Push[0], s.data.epoch, cluster.Gap
	s.data.pushAnswered(m)
	if next := s.next(); next == nil || next.method != push || next.snapshot.BaseVersion != 0 || next.snapshot.Roster == nil {
		t.Errorf("%+v follows, want a whole snapshot", next)
	}
}

// A push that died with its scheduler's handler may have met a slow network; only a refused connection is certain.
func TestOnlyARefusedPushEndsAScheduler(t *testing.T) {
	s := finished(t, "dodoor")
	s.drain()
	for _, refused := range []bool{false, true} {
		actions, _ := s.data.store.Settle(s.now)
		m := s.take(push)
		m.push, m.origin, m.failed, m.unsent = actions.Push[0], s.data.epoch, true, refused
		s.data.pushAnswered(m)
		if known(s, 0) == refused {
			t.Errorf("refused: %v; still registered: %v", refused, known(s, 0))
		}
	}
}
