package procfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// Files are read as Go's own does, whatever their length.
func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path, want := filepath.Join(folder, "file"), bytes.Repeat([]byte("a"), rapid.IntRange(0, 5000).Draw(t, "length"))
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v, want %d", len(got), err, len(want))
		}
	})
	if _, err := ReadFile(folder + "/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ReadFile(folder); !errors.Is(err, unix.EISDIR) {
		t.Error(err)
	}
}
