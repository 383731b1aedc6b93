package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// groups is how many were durable before anything is changed, each with one key.
const groups = 300

// reader is a store that tells what it has.
type reader interface {
	values(f func(key, value string)) error
}

// verdict is what a library made of a changed byte.
type verdict struct {
	refused  bool // when it was opened, or read
	panicked bool
	missing  int // keys
	wrong    int // values
}

// silent reports whether it told something else than what was written, without an error.
func (v verdict) silent() bool { return !v.refused && !v.panicked && (v.missing > 0 || v.wrong > 0) }

// written is a folder of a library with all groups, whose newest file is at path.
func written(t *testing.T, open func(string) (store, error), pattern string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, err := open(dir)
	if err == nil {
		err = s.close() // pebble's first log is not in the format that notices changes
	}
	if err == nil {
		s, err = open(dir)
	}
	for g := uint64(0); g < groups && err == nil; g++ {
		err = s.write([]uint64{g}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir() // as a crash leaves it
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(copied, pattern))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return copied, files[0]
}

// changed opens a copy of a folder in which one byte is another.
func changed(t *testing.T, open func(string) (store, error), dir, path string, at int) (v verdict) {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 0x41
	if err := os.WriteFile(filepath.Join(copied, filepath.Base(path)), text, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() != nil {
			v.panicked = true
		}
	}()
	s, err := open(copied)
	if err != nil {
		return verdict{refused: true}
	}
	defer s.close()
	var found [groups]bool
	err = s.(reader).values(func(k, value string) {
		for g := range found {
			if k == string(key(uint64(g))) {
				if found[g] = true; value != string(content(uint64(g))) {
					v.wrong++
				}
			}
		}
	})
	for _, is := range found {
		if !is {
			v.missing++
		}
	}
	v.refused = err != nil
	return v
}

// What these libraries make of changes is what the README says of them: neither tells of all.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name    string
		open    func(string) (store, error)
		pattern string
	}{{"pebble", openPebble, "*.log"}, {"bbolt", openBolt, "journal"}} {
		t.Run(c.name, func(t *testing.T) {
			dir, path := written(t, c.open, c.pattern)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			size := int(info.Size())
			var silent, missing, wrong, refused, panicked int
			const places = 97
			for i := range places {
				v := changed(t, c.open, dir, path, 100+i*(size-100)/places)
				if v.refused {
					refused++
				}
				if v.panicked {
					panicked++
				}
				if v.silent() {
					silent++
					missing, wrong = missing+min(v.missing, 1), wrong+min(v.wrong, 1)
				}
			}
			t.Logf("%d bytes, %d places: %d refused, %d panics, %d silent (%d with keys missing, %d with wrong values)", size, places, refused,
				panicked, silent, missing, wrong)
			if silent == 0 {
				t.Error("every change is noticed: say so in the README")
			}
		})
	}
}
