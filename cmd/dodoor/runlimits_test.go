package main

import (
	"log/slog"
	"strings"
	"testing"

	"dodoor/assemble"
	"dodoor/localcluster"
)

// Whoever asks for limits where there can be none is told, in one line; nobody else is.
func TestRunSaysWhereNothingIsLimited(t *testing.T) {
	machine, err := localcluster.Machine()
	if err != nil {
		t.Fatal(err)
	}
	e, err := assemble.Executor("process", localcluster.Own{Limits: true, Folder: t.TempDir()}.Config(machine), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	lines := 0
	if e.Unlimited() != nil {
		lines = 1
	}
	for flags, want := range map[string]int{"": 0, "-memory 100": lines, "-cores 0.5": lines} {
		_, stderr, code := dodoor(append(append([]string{"run"}, strings.Fields(flags)...), "--", "true")...)
		if code != exitDone || strings.Count(stderr, "tasks may take more than their demand") != want || strings.Count(stderr, "\n") != want {
			t.Errorf("%q: exit code %d, want %d lines:\n%s", flags, code, want, stderr)
		}
	}
}
