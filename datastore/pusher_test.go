package datastore_test

import (
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// pushOne asks for a push and returns the only one that is due.
func pushOne(t *testing.T, s *datastore.Store, now time.Duration) datastore.Push {
	t.Helper()
	actions, _ := s.Settle(now)
	if len(actions.Push) != 1 {
		t.Fatalf("%d pushes are due, want 1", len(actions.Push))
	}
	return actions.Push[0]
}

// A scheduler is given up when its pushes have failed for exactly the node timeout, or at once when it is
// certain that its process is gone; codes that are no answer to a push count as failures.
func TestPatience(t *testing.T) {
	const patience = time.Minute // of newStore
	for _, c := range []struct {
		what string
		fail func(s *datastore.Store, now time.Duration, p datastore.Push) datastore.Actions
		at   time.Duration // of the second failure, after the first
		gone bool
	}{
		{"silent, not long enough", silent, patience - 1, false},
		{"silent for the node timeout", silent, patience, true},
		{"overloaded for the node timeout", coded(cluster.Overloaded), patience, true},
		{"overloaded now", coded(cluster.Overloaded), 1, false},
		{"another process at its address", coded(cluster.Stale), 0, true},
		{"nobody at its address", func(s *datastore.Store, now time.Duration, p datastore.Push) datastore.Actions {
			return s.Failed(now, p, true)
		}, 0, true},
	} {
		s := newStore(t, datastore.Config{})
		registerScheduler(t, s, "s", 1)
		hum(s, time.Hour-1, time.Hour)
		first := silent(s, time.Hour, pushOne(t, s, time.Hour))
		hum(s, time.Hour, time.Hour+c.at)
		second := c.fail(s, time.Hour+c.at, pushOne(t, s, time.Hour+c.at))
		if !first.Failing || first.Gone || second.Failing || second.Gone != c.gone || (len(s.Schedulers()) == 0) != c.gone {
			t.Errorf("%s: %+v, then %+v, %d schedulers left", c.what, first, second, len(s.Schedulers()))
		}
	}
}

func silent(s *datastore.Store, now time.Duration, p datastore.Push) datastore.Actions {
	return s.Failed(now, p, false)
}

func coded(code cluster.ErrorCode) func(*datastore.Store, time.Duration, datastore.Push) datastore.Actions {
	return func(s *datastore.Store, now time.Duration, p datastore.Push) datastore.Actions {
		return s.Answered(now, p, code)
	}
}

// Forget makes a push whole, whatever its scheduler took before.
func TestForget(t *testing.T) {
	s := newStore(t, datastore.Config{})
	registerScheduler(t, s, "s", 1)
	actions, _ := s.Settle(0)
	deliver(t, s, 0, actions)
	p := pushOne(t, s, 0)
	if built := fill(t, s, p); built.BaseVersion == 0 {
		t.Fatalf("%+v builds on nothing", built)
	}
	s.Forget(p)
	if whole := fill(t, s, p); whole.BaseVersion != 0 || whole.Roster == nil {
		t.Errorf("%+v, want everything", whole)
	}
}

// A push whose scheduler has left, or registered again, is not made.
func TestNobodysPushIsNotMade(t *testing.T) {
	for what, change := range map[string]func(s *datastore.Store){
		"left":             func(s *datastore.Store) { s.UnregisterScheduler("s", 1) },
		"registered again": func(s *datastore.Store) { registerScheduler(t, s, "s", 1) },
		"restarted":        func(s *datastore.Store) { registerScheduler(t, s, "s", 2) },
	} {
		s := newStore(t, datastore.Config{})
		registerScheduler(t, s, "s", 1)
		p := pushOne(t, s, 0)
		change(s)
		var snapshot cluster.Snapshot
		if s.Fill(&snapshot, p) {
			t.Errorf("%s: %+v goes to nobody", what, snapshot)
		}
	}
}
