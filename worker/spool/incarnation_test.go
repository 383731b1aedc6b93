package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A worker that starts again has a larger number, also when the clock was set back in between.
func TestIncarnationsOnlyGrow(t *testing.T) {
	cfg := Config{Worker: "w", Folder: filepath.Join(t.TempDir(), "spool"), TaskBytes: 100, Bytes: 1000}
	for i, step := range []struct{ clock, want int64 }{{1000, 1000}, {2000, 2000}, {500, 2001}, {500, 2002}, {3000, 3000}} {
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Incarnation(step.clock); err != nil || got != step.want {
			t.Errorf("process %d at %d: %d (%v), want %d", i, step.clock, got, err, step.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (*Spool)(nil).Incarnation(7); got != 7 || err != nil {
		t.Errorf("without a spool: %d, %v", got, err)
	}
	path := filepath.Join(cfg.Folder, incarnationFile)
	if err := os.WriteFile(path, []byte("soon"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Incarnation(1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file without a number: %v", err)
	}
}
