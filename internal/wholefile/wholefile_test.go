package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// names lists what is in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A file is made or replaced, shorter or longer, also where a killed process left a longer half.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := os.WriteFile(path+".partial", []byte("what a killed process left"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "the second one", ""} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"a.json"}) {
			t.Errorf("the directory holds %v", got)
		}
	}
}

// What is written is its owner's alone, also where what a killed process left may be read by others.
func TestWriteIsItsOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path+".partial", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || content(t, path) != "secret" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Until all is written the old file is what readers see, and it stays when writing fails.
func TestFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := WriteBy(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		if got := content(t, path); got != "old" {
			t.Errorf("while the new file is written, readers see %q", got)
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("got %q: the old file is gone", got)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a.json"}) {
		t.Errorf("the directory holds %v", got)
	}
}

// What cannot be made or replaced is an error, and nothing stays behind.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "missing", "a"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, nil); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"taken"}) {
		t.Errorf("the directory holds %v", got)
	}
}

// What a person names is replaced where it is a regular file alone: links stay, and lead to it; pipes and devices are
// written.
func TestWriteToKeepsLinksAndPipes(t *testing.T) {
	const want = "a trace\n"
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(path string) {
		if err := WriteTo(path, func(w io.Writer) error { _, err := io.WriteString(w, want); return err }); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := os.WriteFile(in("old.csv"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.csv": "old.csv", "dangling.csv": "new.csv"} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
		write(in(link))
		info, err := os.Lstat(in(link))
		text, readErr := os.ReadFile(in(target))
		if err != nil || info.Mode()&os.ModeSymlink == 0 || readErr != nil || string(text) != want {
			t.Errorf("%s: %v, %v, %v, %q behind it", link, info.Mode(), err, readErr, text)
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte)
	go func() {
		text, _ := os.ReadFile(in("pipe"))
		read <- text
	}()
	write(in("pipe"))
	if text := <-read; string(text) != want {
		t.Errorf("%q came through the pipe", text)
	}
	write("/dev/null")
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatalf("/dev/null is %v, %v", info.Mode(), err)
	}
}
