package sim

import (
	"slices"
	"testing"
	"time"

	"dodoor/generator"
)

// Schedulers look at the clock every 20 ms where something depends on it: a staleness bound, a fault, a policy that
// acts by itself; otherwise every second.
func TestHowOftenClocksTick(t *testing.T) {
	for _, c := range []struct {
		what, policy string
		change       func(*Config)
		often        bool
	}{
		{"nothing", "dodoor", func(*Config) {}, false},
		{"the data service's bound", "dodoor", func(c *Config) { c.Store.MaxStaleness = time.Second }, true},
		{"the schedulers' bound", "dodoor", func(c *Config) { c.Replica.MaxStaleness = time.Second }, true},
		{"a fault", "dodoor", func(c *Config) { c.Faults = []Fault{{What: "datastore", At: time.Hour, Until: 2 * time.Hour}} }, true},
		{"a policy that polls", "yarp", func(*Config) {}, true},
	} {
		cfg := tiny(t, c.policy, 1)
		c.change(&cfg)
		s := start(t, cfg)
		s.startClocks()
		for s.now < 5*time.Second {
			s.step()
		}
		if often := s.done > 200; often != c.often {
			t.Errorf("%s: %d events in five seconds; often is %v", c.what, s.done, c.often)
		}
	}
}

// Nodes are looked at when somebody wants to see them and says how often; those that are away are left out, and no
// others.
func TestWhichNodesAreSampled(t *testing.T) {
	for _, every := range []time.Duration{0, 250 * time.Millisecond} {
		var seen []string
		for _, sample := range []func(*generator.NodeSample) error{nil, func(n *generator.NodeSample) error {
			seen = append(seen, n.Worker)
			return nil
		}} {
			cfg := tiny(t, "random", 3)
			cfg.SampleEvery, cfg.Sample = every, sample
			s := start(t, cfg)
			s.workers[1].up = sample == nil
			s.startClocks()
			for s.now < 600*time.Millisecond {
				s.step()
			}
		}
		want := []string{"n1", "n3", "n1", "n3", "n1", "n3"} // at 0, 250 and 500 ms
		if every == 0 {
			want = nil
		}
		if !slices.Equal(seen, want) {
			t.Errorf("every %v: %v were seen, want %v", every, seen, want)
		}
	}
}

// After a run with faults everybody gets all the bounds of the configuration to find out who is gone and who is back,
// before the accounts are looked at; without faults nobody waits.
func TestWhatAnAuditWaitsFor(t *testing.T) {
	for _, faults := range [][]Fault{nil, {{What: "datastore", At: time.Millisecond, Until: 2 * time.Millisecond}}} {
		cfg := tiny(t, "dodoor", 3).with(t, 20)
		cfg.Faults, cfg.Network.Delay = faults, 100*time.Millisecond
		s := start(t, cfg)
		if stopped, err := s.run(); stopped || err != nil {
			t.Fatal(stopped, err)
		}
		before, bounds := s.now, cfg.Store.NodeTimeout+cfg.Replica.RosterGrace+5*time.Second+s.cfg.Network.patience()
		s.drain()
		if waited := s.now - before; (waited >= bounds) != (faults != nil) {
			t.Errorf("%d faults: waited %v, and the bounds are %v", len(faults), waited, bounds)
		}
	}
}
