package sim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// finished is a run that has ended well and was not audited yet.
func finished(t *testing.T, policy string, quirks ...string) *Simulation {
	t.Helper()
	cfg := tiny(t, policy, 3).with(t, 20)
	cfg.Quirks = quirks
	s := start(t, cfg)
	if stopped, err := s.run(); stopped || err != nil {
		t.Fatal(stopped, err)
	}
	return s
}

// phantom is a placement that the data service hears of and that never arrives anywhere.
func phantom(t *testing.T, s *Simulation) {
	t.Helper()
	if _, err := s.data.store.Flush(s.now, &cluster.Delta{Scheduler: "scheduler-1", Incarnation: 1, Decisions: 20, Placed: []cluster.Placed{
		{Node: "n1", NodeIncarnation: 1, Number: 99, Placed: cluster.Load{Tasks: 99}}}}); err != nil {
		t.Fatal(err)
	}
}

// illusion gives a scheduler a view of a busy node that no later snapshot replaces.
func illusion(t *testing.T, s *Simulation) {
	t.Helper()
	s.drain()
	snapshot, err := s.data.store.RegisterScheduler(s.schedulers[0].ref)
	if err != nil {
		t.Fatal(err)
	}
	snapshot.Version = 1 << 40
	snapshot.Load[1].Tasks = 1
	if _, err := s.schedulers[0].replica.Push(s.now, &snapshot); err != nil {
		t.Fatal(err)
	}
}

// The audit finds what was broken by hand.
func TestAuditFindsWhatIsBroken(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		damage       func(s *Simulation)
		want         string // part of the complaint; "": none
	}{
		{"nothing", "dodoor", func(*Simulation) {}, ""},
		{"a request nobody handled", "dodoor", func(s *Simulation) { s.sent[probe]++ },
			"1 requests of kind 4 were sent, 0 handled and 0 refused"},
		{"a request handled twice", "dodoor", func(s *Simulation) { s.handledOf[enqueue]++ }, "20 requests of kind 1 were sent, 21 handled"},
		{"a request handled and refused", "random", func(s *Simulation) { s.refusedOf[submit]++ }, "20 handled and 1 refused"},
		{"a node broke a rule", "random", func(s *Simulation) { s.workers[2].check.problem = errors.New("node n3 did it") }, "node n3 did it"},
		{"a dead node had broken a rule", "random", func(s *Simulation) {
			s.workers[2].check.problem,
				s.workers[2].up = errors.New("node n3 did it"), false
		}, "node n3 did it"},
		{"a task still runs", "random", func(s *Simulation) { s.workers[0].check.running++ },
			"node n1 still reserves [0 0 0 0 0 0 0 0] for 1 tasks"},
		{"a reservation is left", "random", func(s *Simulation) { s.workers[0].check.reserved[cluster.Memory] = 5 },
			"node n1 still reserves [0 5 0"},
		{"a device is left", "random", func(s *Simulation) { s.workers[0].check.devices = map[device]int64{{3, "x"}: 1} },
			"node n1 still holds 1 devices"},
		{"a reservation on a node that died", "random", func(s *Simulation) { s.workers[0].check.running, s.workers[0].up = 1, false }, ""},
		{"a placement on its way for ever", "dodoor", func(s *Simulation) { phantom(t, s) },
			"the data service believes that the idle node n1 holds"},
		{"one that a dead node will never get", "dodoor", func(s *Simulation) { phantom(t, s); s.workers[0].up = false }, ""},
		{"one to an earlier process of a node", "dodoor", func(s *Simulation) { phantom(t, s); s.workers[0].ref.Incarnation = 2 }, ""},
		{"one that a dead data service believes in", "dodoor", func(s *Simulation) { phantom(t, s); s.data.up = false }, ""},
		{"a view of its own", "dodoor", func(s *Simulation) { illusion(t, s) }, "scheduler-1 believes that the idle node n2 holds"},
		{"a view that nobody reads", "random", func(s *Simulation) { illusion(t, s) }, ""},
		{"a dead scheduler's view", "dodoor", func(s *Simulation) { illusion(t, s); s.schedulers[0].up = false }, ""},
		{"a living scheduler's view behind a dead one", "dodoor", func(s *Simulation) {
			illusion(t, s)
			s.schedulers = append([]schedulerShell{{}}, s.schedulers...)
		}, "scheduler-1 believes"},
		{"a task without a row", "random", func(s *Simulation) { s.clients[0].client.Expect("forgotten", false) }, "1 tasks never ended"},
		{"an outcome too many", "random", func(s *Simulation) { s.rows.count.Outcomes[cluster.Lost]++ }, "21 outcomes of 20 tasks"},
		{"an outcome too few", "random", func(s *Simulation) { s.rows.count.Outcomes[cluster.Finished]-- }, "19 outcomes of 20 tasks"},
		{"a row without an outcome", "random", func(s *Simulation) {
			s.rows.count.Outcomes[cluster.Finished]--
			s.rows.count.Outcomes[cluster.NoOutcome]++
		}, "20 outcomes of 20 tasks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := finished(t, c.policy)
			c.damage(s)
			err := s.audit()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("complains: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("complains %v, want %q", err, c.want)
			}
		})
	}
}

// The drifted views of the quirk are no fault of the simulator; the accounts at the data service are exact with
// it as well.
func TestAuditWithTheQuirk(t *testing.T) {
	s := finished(t, "dodoor", DurationDrift)
	illusion(t, s)
	if err := s.audit(); err != nil {
		t.Error(err)
	}
	s = finished(t, "dodoor", DurationDrift)
	phantom(t, s)
	if err := s.audit(); err == nil {
		t.Error("a wrong account passes")
	}
}

// A run that gets nowhere says so, instead of going on for ever.
func TestARunThatGetsNowhere(t *testing.T) {
	for _, faults := range [][]Fault{nil, {{What: "datastore", At: time.Second, Until: 2 * time.Second}}} {
		cfg := tiny(t, "random", 1).with(t, 3)
		cfg.Faults = faults
		s := start(t, cfg)
		s.workers[0].notifiers[0] = worker.NewNotifier(s.workers[0].node, "nobody", 1) // no completion is told
		if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "nothing has happened since 10s, and 3 tasks have not ended") {
			t.Errorf("faults %v: the run ended with %v", faults, err)
		}
	}
}
