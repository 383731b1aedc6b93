package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dodoor/worker/executor/executortest"
)

// This program is also the supervisor that tests start, of the program in the environment: FOLDER SERVICE [UNIT].
const asSupervisor = "DODOOR_TEST_SUPERVISE"

// asAnswer makes it the process that answers at services' ports.
const asAnswer = "DODOOR_TEST_ANSWER"

// quick are pauses for tests.
var quick = pauses{first: time.Millisecond, last: 4 * time.Millisecond, goodRun: time.Hour}

func TestMain(m *testing.M) {
	if program := os.Getenv(asSupervisor); program != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		s := State{Service: os.Args[2], Unit: strings.Join(os.Args[3:], "")}
		if err := quick.supervise(ctx, Folder(os.Args[1]), s, []string{program}, one); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(asAnswer) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		a := &Agent{Configuration: os.Args[4], Folder: Folder(os.Args[6]), Host: os.Args[8]} // host answer -conf C -folder F -host H
		if err := errors.Join(a.Read(nil), a.Answer(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// stage is a folder with a binary, a configuration and a service, which is a shell script.
func stage(t *testing.T, script string) (Folder, string) {
	t.Helper()
	f := Folder(t.TempDir())
	program := filepath.Join(string(f), "service.sh")
	for path, text := range map[string]string{f.Binary(): "binary", f.Configuration(): "configuration", program: "#!/bin/sh\n" + script} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return f, program
}

// start starts a service through a supervisor of its own, which the end of the test stops.
func start(t *testing.T, f Folder, program string, ready func() error) (State, error) {
	t.Helper()
	t.Setenv(asSupervisor, program)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := Stop(ctx, f, "s"); err != nil {
			t.Error(err)
		}
	})
	return Start(ctx, f, "s", detached(f, "s", []string{os.Args[0], string(f), "s"}), ready)
}

func atOnce() error { return nil }

// one is the version of everything that tests run.
func one() (string, error) { return "one", nil }

// eventually waits until a service is as it should be.
func eventually(t *testing.T, f Folder, what string, is func(State) bool) {
	t.Helper()
	executortest.Eventually(t, what, func() bool {
		s, err := f.StateOf("s")
		return err == nil && is(s)
	})
}
