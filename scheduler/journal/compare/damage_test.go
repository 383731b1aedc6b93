package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFlips prints what pebble makes of a changed byte in its newest log: an error, or fewer of the 300 groups that were durable.
func TestFlips(t *testing.T) {
	dir := t.TempDir()
	s, err := openPebble(dir)
	if err == nil {
		err = s.close() // its first log is not in the format that notices changes
	}
	if err == nil {
		s, err = openPebble(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	const groups = 300
	for g := range uint64(groups) {
		if err := s.write([]uint64{g}, nil); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	text, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 100; at < len(text); at += len(text) / 20 {
		changed := t.TempDir()
		if err := os.CopyFS(changed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte(nil), text...)
		flipped[at] ^= 0x41
		if err := os.WriteFile(filepath.Join(changed, filepath.Base(logs[0])), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged, err := openPebble(changed)
		if err != nil {
			t.Logf("byte %d: %v", at, err)
			continue
		}
		n := 0
		if err := damaged.each(func() { n++ }); err != nil {
			t.Fatal(err)
		}
		t.Logf("byte %d: %d of %d groups", at, n, groups)
		if err := damaged.close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
