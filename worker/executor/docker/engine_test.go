package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

// answering is an engine that gives every request one answer.
func answering(t *testing.T, answer http.HandlerFunc) dockerEngine {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", oldestAPI)
		w.Header().Set("Ostype", "linux")
		answer(w, r)
	}))
	e, err := dial("tcp://" + strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.close()
		server.Close()
	})
	return e
}

func TestEngineVersions(t *testing.T) {
	for _, c := range []struct{ version, os, want string }{
		{"1.41", "linux", ""},
		{"1.51", "linux", ""},
		{"1.40", "linux", "it speaks API 1.40"},
		{"1.51", "windows", "runs windows containers"},
	} {
		e := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Api-Version", c.version)
			w.Header().Set("Ostype", c.os)
		})
		err := newExecutor(Config{}, e, self).Ready()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			unreachable(errors.Unwrap(err))) {
			t.Errorf("API %s on %s: %v", c.version, c.os, err)
		}
	}
}

// Whether the engine has answered decides whether another worker gets the task.
func TestUnreachable(t *testing.T) {
	for status, want := range map[int]bool{400: false, 403: false, 404: false, 409: false, 500: false, 502: true, 503: true} {
		e := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, `{"message":"because"}`)
		})
		if err := e.kill(t.Context(), "x"); err == nil || unreachable(err) != want {
			t.Errorf("status %d: %v", status, err)
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"breaks off": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "{")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"is somebody else": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "welcome") },
	} {
		e := answering(t, answer)
		if _, err := e.stats(t.Context(), "x"); !unreachable(err) {
			t.Errorf("an engine that %s: %v", name, err)
		}
		ended, err := e.wait(t.Context(), "x", container.WaitConditionNextExit)
		if err == nil {
			err = (<-ended).err
		}
		if !unreachable(err) {
			t.Errorf("an engine that %s while a container runs: %v", name, err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	e, err := dial("tcp://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if err := e.ping(t.Context()); !unreachable(err) || !strings.Contains(err.Error(), addr) {
		t.Errorf("%v", err)
	}
}

// Waiting ends with its context, whether the engine takes notice or not.
func TestHangingUp(t *testing.T) {
	asked := make(chan struct{}, 1)
	e := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/wait") {
			return
		}
		if strings.Contains(r.URL.Path, "/known/") {
			w.(http.Flusher).Flush()
		}
		asked <- struct{}{}
		<-r.Context().Done()
	})
	ctx, hangUp := context.WithCancel(t.Context())
	ended, err := e.wait(ctx, "known", container.WaitConditionNextExit)
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	hangUp()
	if end := <-ended; !errors.Is(end.err, context.Canceled) {
		t.Errorf("%+v", end)
	}
	ctx, hangUp = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer hangUp()
	if _, err := e.wait(ctx, "silent", container.WaitConditionNextExit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
