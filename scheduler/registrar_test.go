package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// newRegistrar is that of a replica that nobody knows yet.
func newRegistrar() *Registrar { return &Registrar{Flusher: &Flusher{Replica: &Replica{}}} }

// asks expects what a registrar asks now, and when it wants to be called again.
func asks(t *testing.T, r *Registrar, now time.Duration, want Request, wantWake time.Duration) {
	t.Helper()
	if ask, wake := r.Next(now); ask != want || wake != wantWake {
		t.Fatalf("at %v: asks %d, wakes at %v; want %d, %v", now, ask, wake, want, wantWake)
	}
}

// While the data service is away a replica tries to register every 100 ms; once it is registered it looks every two
// seconds whether it still is. One request is under way at a time.
func TestARegistrarRegistersThenLooks(t *testing.T) {
	r := newRegistrar()
	asks(t, r, 0, RegisterRequest, 0)
	asks(t, r, 0, NoRequest, 0)
	if over := r.Failed(0, 0); over {
		t.Fatal("nobody answered, and that is taken for the last word")
	}
	asks(t, r, 99*time.Millisecond, NoRequest, 100*time.Millisecond)
	asks(t, r, 100*time.Millisecond, RegisterRequest, 0)
	r.Registered(time.Second, 7)
	if !r.Flusher.IsRegistered() {
		t.Fatal("the flusher was not told")
	}
	asks(t, r, time.Second, NoRequest, 3*time.Second)
	asks(t, r, 3*time.Second, CheckRequest, 0)
	r.Known(3 * time.Second)
	asks(t, r, 3*time.Second, NoRequest, 5*time.Second)
}

// A look that fails, or a delta that another process answers, makes the replica register at once; what a look says
// that was under way then is older.
func TestARegistrarThatIsNotKnownRegistersAtOnce(t *testing.T) {
	for name, lose := range map[string]func(r *Registrar){
		"nobody answers": func(r *Registrar) { r.Failed(2*time.Second, 0) },
		"unknown":        func(r *Registrar) { r.Failed(2*time.Second, cluster.UnknownScheduler) },
		"a delta":        func(r *Registrar) { r.Lost(2 * time.Second); r.Known(2 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistrar()
			r.Next(0)
			r.Registered(0, 7)
			asks(t, r, 2*time.Second, CheckRequest, 0)
			lose(r)
			if r.Flusher.IsRegistered() {
				t.Error("still registered, as far as the flusher knows")
			}
			asks(t, r, 2*time.Second, RegisterRequest, 0)
		})
	}
}

// A delta that finds nobody hastens no registration: the replica knows that it is not registered.
func TestADeltaHastensNoRegistration(t *testing.T) {
	r := newRegistrar()
	r.Next(0)
	r.Failed(0, 0)
	r.Lost(50 * time.Millisecond)
	asks(t, r, 50*time.Millisecond, NoRequest, 100*time.Millisecond)
}

// A newer process with the replica's name, or a name that no service takes, ends the replica.
func TestARegistrationThatIsRefusedForGood(t *testing.T) {
	for code, want := range map[cluster.ErrorCode]bool{cluster.Stale: true, cluster.Invalid: true, cluster.Draining: false, 0: false} {
		r := newRegistrar()
		r.Next(0)
		if over := r.Failed(0, code); over != want {
			t.Errorf("code %v: over %v, want %v", code, over, want)
		}
	}
}
