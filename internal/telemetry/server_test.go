package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a server that answers until the test ends.
type running struct {
	*Server
	cancel context.CancelFunc
	ended  chan error
}

// start fills the gaps of cfg, so that a test names only what it is about.
func start(t *testing.T, cfg ServerConfig) *running {
	t.Helper()
	cfg.Addr = "127.0.0.1:0"
	if cfg.Ready == nil {
		cfg.Ready = func() error { return nil }
	}
	if cfg.Log == nil {
		cfg.Log = quiet()
	}
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{s, cancel, make(chan error, 1)}
	go func() { r.ended <- s.Run(ctx); close(r.ended) }()
	t.Cleanup(func() { r.stop(t) })
	return r
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	if err := <-r.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// client keeps no connection, so that no goroutine outlives a test.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (r *running) get(t *testing.T, path string, wantStatus int) string {
	t.Helper()
	return r.ask(t, http.MethodGet, path, wantStatus)
}

func (r *running) ask(t *testing.T, method, path string, wantStatus int) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != wantStatus {
		t.Fatalf("%s %s: status %d (%v), want %d\n%s", method, path, response.StatusCode, err, wantStatus, body)
	}
	return string(body)
}

func TestHealthDoesNotDependOnReadiness(t *testing.T) {
	s := start(t, ServerConfig{Ready: func() error { return errors.New("no data service") }})
	if body := s.get(t, "/healthz", 200); body != "ok\n" {
		t.Errorf("got %q", body)
	}
}

func TestReadinessGivesEveryReason(t *testing.T) {
	var state error
	s := start(t, ServerConfig{Ready: func() error { return state }})
	ask := func(wantStatus int) readiness {
		var got readiness
		if err := json.Unmarshal([]byte(s.get(t, "/readyz", wantStatus)), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask(200); !got.Ready || len(got.Reasons) != 0 {
		t.Errorf("ready: %+v", got)
	}
	state = errors.Join(errors.New("no snapshot yet"), errors.New("draining"))
	if got := ask(503); got.Ready || !slices.Equal(got.Reasons, []string{"no snapshot yet", "draining"}) {
		t.Errorf("two reasons: %+v", got)
	}
	state = errors.New("no snapshot yet")
	if got := ask(503); !slices.Equal(got.Reasons, []string{"no snapshot yet"}) {
		t.Errorf("one reason: %+v", got)
	}
}

func TestProfilesAreOnAFlag(t *testing.T) {
	start(t, ServerConfig{}).get(t, "/debug/pprof/", 404)
	on := start(t, ServerConfig{Pprof: true})
	if page := on.get(t, "/debug/pprof/goroutine?debug=1", 200); !strings.Contains(page, "goroutine profile") {
		t.Errorf("not a profile: %.200s", page)
	}
	on.get(t, "/debug/pprof/cmdline", 200)
}

func TestOtherRequestsAreRefused(t *testing.T) {
	s := start(t, ServerConfig{})
	s.get(t, "/", 404)
	s.ask(t, http.MethodPost, "/metrics", 405)
	s.ask(t, http.MethodDelete, "/readyz", 405)
}

func TestBadConfigurationIsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ready := func() error { return nil }
	cases := map[string]ServerConfig{
		"address is empty":         {Ready: ready, Log: quiet()},
		"address already in use":   {Addr: taken.Addr().String(), Ready: ready, Log: quiet()},
		taken.Addr().String():      {Addr: taken.Addr().String(), Ready: ready, Log: quiet()},
		"missing port":             {Addr: "localhost", Ready: ready, Log: quiet()},
		"readiness check":          {Addr: "127.0.0.1:0", Log: quiet()},
		"a log are needed":         {Addr: "127.0.0.1:0", Ready: ready},
		"is not a valid metric na": {Addr: "127.0.0.1:0", Ready: ready, Log: quiet(), Registries: []*Registry{badName()}},
	}
	for want, cfg := range cases {
		s, err := NewServer(cfg)
		if err == nil {
			_ = s.listener.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

func badName() *Registry {
	r := NewRegistry("scheduler", "s0")
	r.Gauge("bad\xff", "A name that is not UTF-8.", nil)
	return r
}

func TestASilentConnectionDoesNotDelayTheEnd(t *testing.T) {
	s := start(t, ServerConfig{})
	silent, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s.get(t, "/healthz", 200) // accepted after the silent one
	s.stop(t)
	if n, err := silent.Read(make([]byte, 1)); err == nil {
		t.Errorf("the silent connection got %d bytes instead of its end", n)
	}
}

func TestALostListenerEndsRunWithAnError(t *testing.T) {
	s, err := NewServer(ServerConfig{Addr: "127.0.0.1:0", Ready: func() error { return nil }, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.listener.Close()
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), s.Addr()) {
		t.Errorf("got %v, want an error that names %s", err, s.Addr())
	}
	_ = s.listener.Close()
}
