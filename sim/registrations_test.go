package sim

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// known reports whether the data service has exactly this process of a scheduler registered.
func known(s *Simulation, sched int) bool {
	ref := &s.schedulers[sched].ref
	return s.data.store.CheckScheduler(ref.Name, ref.Incarnation) == nil
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
			ready, refusal := s.schedulers[0].replica.Submit(s.now, "somebody else", &spec)
			if refusal != nil {
				t.Error(refusal)
			}
			s.schedulers[0].carryOut(ready)
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
	s.later(190*time.Millisecond, func() { // two are on their way: one arrives at nobody, both are answered after the return
		s.data.push(0)
	})
	s.later(310*time.Millisecond, func() {
		if !known(s, 0) {
			t.Error("the new process has not registered")
		}
		m := s.take(push)
		m.sched, m.origin, m.failed = 0, s.data.epoch, true
		m.snapshot = cluster.Snapshot{ReceiverIncarnation: 1}
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
	m := s.take(push)
	m.sched, m.origin, m.code = 0, s.data.epoch, cluster.Gap
	m.snapshot = cluster.Snapshot{ReceiverIncarnation: 1}
	s.data.pushAnswered(m)
	if next := s.next(); next == nil || next.method != push || next.snapshot.BaseVersion != 0 || next.snapshot.Roster == nil {
		t.Errorf("%+v follows, want a whole snapshot", next)
	}
}
