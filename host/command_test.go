package host

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/worker/executor/executortest"
)

// program makes a shell script the binary of a folder.
func program(t *testing.T, script string) Folder {
	t.Helper()
	f, _ := stage(t, "")
	if err := os.WriteFile(f.Binary(), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestACommandRunsAmongItsRows(t *testing.T) {
	f := program(t, `pwd; echo "$@" >&2; echo row >mine; exit 3`)
	control, hold := io.Pipe()
	defer hold.Close()
	var stdout, stderr bytes.Buffer
	code, err := Command(t.Context(), f, []string{"replay", "-n", "1 2"}, control, &stdout, &stderr)
	if code != 3 || err != nil || stdout.String() != f.Rows()+"\n" || stderr.String() != "replay -n 1 2\n" {
		t.Errorf("exit code %d, %v: %q, %q", code, err, stdout.String(), stderr.String())
	}
	if _, err := os.Stat(filepath.Join(f.Rows(), "mine")); err != nil {
		t.Error(err)
	}
	control, hold = io.Pipe()
	defer hold.Close()
	if _, err := Command(t.Context(), program(t, `kill -9 $$`), []string{"replay"}, control, &stdout, &stderr); err == nil ||
		!strings.Contains(err.Error(), "run replay: signal: killed") {
		t.Error(err)
	}
	if _, err := Command(t.Context(), Folder(t.TempDir()), nil, control, &stdout, &stderr); err == nil ||
		!strings.Contains(err.Error(), "bin/dodoor") {
		t.Error(err)
	}
}

// A line interrupts the command, the end of all lines asks it to end, and so does whoever runs it.
func TestACommandIsInterrupted(t *testing.T) {
	f := program(t, `trap 'echo interrupted' INT; trap 'echo ended; exit 1' TERM; echo begun >begun; while :; do sleep 0.01; done`)
	begun := filepath.Join(f.Rows(), "begun")
	for name, end := range map[string]func(control io.Closer, cancel func()){
		"the connection ends": func(control io.Closer, _ func()) { control.Close() },
		"the context ends":    func(_ io.Closer, cancel func()) { cancel() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		read, control := io.Pipe()
		output, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		printed := func() string {
			text, _ := os.ReadFile(output.Name())
			return string(text)
		}
		ended := make(chan int, 1)
		go func() {
			code, _ := Command(ctx, f, []string{"replay"}, read, output, output)
			ended <- code
		}()
		executortest.Eventually(t, "it runs", func() bool { _, err := os.Stat(begun); return err == nil })
		if _, err := io.WriteString(control, "interrupt\n"); err != nil {
			t.Fatal(err)
		}
		executortest.Eventually(t, "it was interrupted", func() bool { return strings.Contains(printed(), "interrupted") })
		end(control, cancel)
		if code := <-ended; code != 1 || !strings.HasSuffix(printed(), "ended\n") {
			t.Errorf("%s: exit code %d, %q", name, code, printed())
		}
		cancel()
		output.Close()
		control.Close()
		if err := os.Remove(begun); err != nil {
			t.Fatal(err)
		}
	}
}
