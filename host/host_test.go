package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dodoor/worker/executor/executortest"
)

func TestASupervisorStartsAgainWhatFails(t *testing.T) {
	f, program := stage(t, `echo x >>lives; [ "$(wc -l <lives)" -gt 3 ]`)
	t.Chdir(string(f))
	if err := quick.supervise(t.Context(), f, State{Service: "s"}, []string{program}, one); err != nil {
		t.Fatal(err)
	}
	s, err := f.StateOf("s")
	if err != nil || s.Running || s.Restarts != 3 || s.LastExit != "exit status 0" || s.PID != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	log, err := os.ReadFile(f.Log("s"))
	if err != nil || strings.Count(string(log), "supervisor: s ended: exit status 1; it starts again in ") != 3 {
		t.Errorf("%s, %v", log, err)
	}
}

func TestWrongConfigurationIsNotTriedAgain(t *testing.T) {
	f, program := stage(t, "echo no such class >&2; exit 2")
	err := quick.supervise(t.Context(), f, State{Service: "s"}, []string{program}, one)
	if err == nil || !strings.Contains(err.Error(), "s refuses to start (exit status 2): see "+f.Log("s")) {
		t.Error(err)
	}
	err = quick.supervise(t.Context(), f, State{Service: "s"}, []string{filepath.Join(string(f), "none")}, one)
	if err == nil || !strings.Contains(err.Error(), "start s: ") {
		t.Error(err)
	}
}

func TestStartAndStop(t *testing.T) {
	f, program := stage(t, `trap 'echo drained; exit 0' TERM; echo up; while :; do sleep 0.01; done`)
	first, err := start(t, f, program, func() error {
		if text, _ := os.ReadFile(f.Log("s")); strings.Contains(string(text), "up") {
			return nil
		}
		return errors.New("not up")
	})
	if err != nil || !first.Running || first.PID == 0 || first.Version != "one" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := start(t, f, program, atOnce)
	if err != nil || again.PID != first.PID || again.Supervisor != first.Supervisor {
		t.Errorf("started twice: %+v, then %+v, %v", first, again, err)
	}
	if err := quick.supervise(t.Context(), f, State{Service: "s"}, []string{program}, one); !errors.Is(err, errHeld) {
		t.Errorf("two supervisors: %v", err)
	}
	killed, err := Stop(t.Context(), f, "s")
	if err != nil || killed || executortest.Alive(first.PID) {
		t.Errorf("stop: killed %v, %v", killed, err)
	}
	if log, _ := os.ReadFile(f.Log("s")); !strings.Contains(string(log), "drained") {
		t.Errorf("it was not asked: %s", log)
	}
	if killed, err := Stop(t.Context(), f, "s"); killed || err != nil {
		t.Errorf("stop twice: %v, %v", killed, err)
	}
}

// What does not listen is killed when the time is up, both the service and its supervisor.
func TestStopKillsInTheEnd(t *testing.T) {
	f, program := stage(t, `trap '' TERM; while :; do sleep 0.01; done`)
	s, err := start(t, f, program, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if killed, err := Stop(over, f, "s"); err != nil || !killed {
		t.Errorf("killed %v, %v", killed, err)
	}
	executortest.Eventually(t, "both are dead", func() bool { return !executortest.Alive(s.PID) && !executortest.Alive(s.Supervisor) })
}

// A service whose supervisor is killed ends too, in its own time, and the next start finds the way free.
func TestNobodyOutlivesTheSupervisor(t *testing.T) {
	f, program := stage(t, `trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	s, err := start(t, f, program, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.Supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, f, "it does not run", func(s State) bool { return !s.Running && s.PID == 0 })
	executortest.Eventually(t, "the service has ended", func() bool { return !executortest.Alive(s.PID) })
	if now, err := start(t, f, program, atOnce); err != nil || !now.Running || now.PID == s.PID {
		t.Errorf("%+v, %v", now, err)
	}
}

// A service that is killed starts again.
func TestAKilledServiceComesBack(t *testing.T) {
	f, program := stage(t, `trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	s, err := start(t, f, program, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, f, "it runs again", func(now State) bool {
		return now.Running && now.PID != 0 && now.PID != s.PID && now.Restarts == 1 && now.LastExit == "signal: killed"
	})
}

func TestFailedStarts(t *testing.T) {
	f, program := stage(t, "echo port taken >&2; exit 2")
	never := func() error { return errors.New("not yet") }
	_, err := start(t, f, program, never)
	if err == nil || !strings.Contains(err.Error(), "s ended at once: port taken | s refuses to start") {
		t.Error(err)
	}
	f, program = stage(t, "trap 'exit 0' TERM; while :; do sleep 0.01; done")
	t.Setenv(asSupervisor, program)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Start(ctx, f, "s", detached(f, "s", []string{os.Args[0], string(f), "s"}), func() error {
		cancel()
		return errors.New("nobody answers at 10.0.0.1:1")
	})
	if err == nil || !strings.Contains(err.Error(), "s is not ready: nobody answers at 10.0.0.1:1; its log ends: ") {
		t.Error(err)
	}
	if _, err := Stop(t.Context(), f, "s"); err != nil {
		t.Error(err)
	}
	_, err = Start(t.Context(), f, "s", detached(f, "s", []string{"/no/such/program"}), atOnce)
	if err == nil || !strings.Contains(err.Error(), "start s: ") {
		t.Error(err)
	}
}

func TestUnknownStates(t *testing.T) {
	f, _ := stage(t, "")
	if s, err := f.StateOf("s"); err != nil || s.Running {
		t.Errorf("never started: %+v, %v", s, err)
	}
	if err := os.MkdirAll(filepath.Dir(f.note("s")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.note("s"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.StateOf("s"); err == nil || !strings.Contains(err.Error(), "state of s: ") {
		t.Error(err)
	}
	if _, err := Folder(t.TempDir()).BinaryVersion(); err == nil || !strings.Contains(err.Error(), "checksum: ") {
		t.Error(err)
	}
}

// A service whose supervisor could not note itself is not taken for one that does not run, and down does not wait for ever.
func TestNobodyKnowsWhichProcess(t *testing.T) {
	f, _ := stage(t, "")
	lock, err := f.hold("x")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if s, err := f.StateOf("x"); err != nil || !s.Running || s.PID != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Stop(ctx, f, "x"); err == nil || !strings.Contains(err.Error(), "its note does not say as which process") {
		t.Errorf("got %v", err)
	}
}
