package host

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

func TestVersions(t *testing.T) {
	f, service := stage(t, `trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	said := func() string {
		t.Helper()
		var out strings.Builder
		if err := Versions(f, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	binary, err := f.BinaryVersion()
	if err != nil {
		t.Fatal(err)
	}
	if got := said(); !strings.HasPrefix(got, "binary "+binary+"\nconfiguration ") || strings.Count(got, "\n") != 2 {
		t.Errorf("%s", got)
	}
	if _, err := start(t, f, service, atOnce); err != nil {
		t.Fatal(err)
	}
	if got := said(); !strings.HasSuffix(got, "\nruns s one\n") {
		t.Errorf("%s", got)
	}
	if _, err := Stop(t.Context(), f, "s"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Configuration()); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "binary "+binary+"\nconfiguration none\n" {
		t.Errorf("%s", got)
	}
}

// Two who start or stop services take turns; who waits for too long is told why.
func TestTurns(t *testing.T) {
	f := Folder(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		first, err := f.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := "somebody else has been starting or stopping services in " + string(f)
		if _, err := f.turn(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		first.Close()
		second, err := f.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second.Close()
	})
}
