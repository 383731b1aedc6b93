package sim

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// What becomes of a push of a former process of the data service says nothing to the present one.
func TestPushesOfAFormerProcess(t *testing.T) {
	for _, former := range []bool{true, false} {
		s := finished(t, "dodoor")
		actions, _ := s.data.store.Settle(s.now)
		m := s.take(push)
		m.push, m.failed, m.unsent, m.origin = actions.Push[0], true, true, s.data.epoch
		if former {
			m.origin--
		}
		s.data.pushAnswered(m)
		if left := len(s.data.store.Schedulers()) == 1; left != former {
			t.Errorf("of a former process: %v; the scheduler is still registered: %v", former, left)
		}
	}
}

// With the quirk a node's report overwrites what the flushes had added up, when it is one of a task's end.
func TestReportsOverwriteTheDrift(t *testing.T) {
	s := finished(t, "dodoor", DurationDrift)
	busy := cluster.Report{Node: "n1", Incarnation: 1, Sequence: 1 << 40, Load: cluster.Load{Duration: 7}}
	for _, idle := range []bool{true, false} {
		m := s.take(report)
		m.report, m.idle = busy, idle
		m.report.Sequence++
		if s.data.reported(m); (s.data.drift.duration["n1"] == 7) == idle {
			t.Errorf("idle report: %v; the node has %d ms", idle, s.data.drift.duration["n1"])
		}
	}
	stranger := s.take(report)
	stranger.report = busy
	stranger.report.Incarnation, stranger.report.Load.Duration = 99, 8
	if s.data.reported(stranger); s.data.drift.duration["n1"] != 7 {
		t.Errorf("a report that was refused overwrites: %d ms", s.data.drift.duration["n1"])
	}
}

// What is planned is known until it happens, and nothing happens to anybody once the run is over.
func TestPlannedFaults(t *testing.T) {
	cfg := tiny(t, "dodoor", 1)
	cfg.Faults = []Fault{{What: "worker", Name: "n1", At: 100 * time.Second},
		{What: "datastore", At: 90 * time.Second, Until: 95 * time.Second}}
	s := start(t, cfg)
	if s.faults.pending != 3 {
		t.Errorf("%d events are planned, want 3", s.faults.pending)
	}
	if stopped, err := s.run(); stopped || err != nil {
		t.Fatal(stopped, err)
	}
	for s.now < 101*time.Second {
		s.step()
	}
	if s.faults.pending != 0 || !s.workers[0].up || !s.data.up {
		t.Errorf("%d events are still planned; worker up %v, data service up %v after the end", s.faults.pending, s.workers[0].up, s.data.up)
	}
}
