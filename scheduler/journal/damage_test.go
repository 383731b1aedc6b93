package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/scheduler"
)

// reopen puts files into a folder of their own and opens it.
func reopen(t testing.TB, list map[string][]byte) (*Journal, error) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range list {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return open(folder, quiet, small)
}

func only(list map[string][]byte) (name string, text []byte) {
	for name, text = range list {
	}
	return name, text
}

// A segment that ends anywhere holds the groups that end before, and takes more.
func TestTornAtEveryByte(t *testing.T) {
	folder := t.TempDir()
	states, sizes := sample(t, folder, 8)
	name, text := only(files(t, folder))
	for end := range len(text) + 1 {
		want := states[0]
		for i, size := range sizes {
			if int64(end) >= size {
				want = states[i]
			}
		}
		j, err := reopen(t, map[string][]byte{name: text[:end]})
		if err != nil {
			t.Fatalf("cut at %d: %v", end, err)
		}
		if got := content(t, j); !maps.Equal(got, want) {
			t.Fatalf("cut at %d: holds %q, want %q", end, got, want)
		}
		group := []scheduler.Change{put("more", "yes")}
		write(t, j, group...)
		closeIt(t, j)
		again := must(t, j.folder)
		if got := content(t, again); !maps.Equal(got, after(want, group)) {
			t.Fatalf("cut at %d, written and opened again: holds %q", end, got)
		}
		closeIt(t, again)
	}
}

// Sectors of the last group that never reached the disk are no damage; those of an earlier one are.
func TestHoles(t *testing.T) {
	folder := t.TempDir()
	j, err := open(folder, quiet, large)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 4*sector)
	for i := range value {
		value[i] = byte(i%255) + 1
	}
	var sizes []int64
	for _, key := range []string{"a", "b"} {
		sizes = append(sizes, j.Bytes())
		write(t, j, scheduler.Change{Key: key, Value: value})
	}
	closeIt(t, j)
	name, text := only(files(t, folder))
	for i, from := range sizes {
		holed := append([]byte(nil), text...)
		begin := (int(from)/sector + 2) * sector
		clear(holed[begin : begin+sector])
		j, err := reopen(t, map[string][]byte{name: holed})
		var damage *Damaged
		switch {
		case i == 0 && (!errors.As(err, &damage) || damage.Offset != from):
			t.Errorf("a hole in the first group: %v, want damage at %d", err, from)
		case i == 1 && err != nil:
			t.Errorf("a hole in the last group: %v", err)
		case i == 1 && len(content(t, j)) != 1:
			t.Errorf("a hole in the last group: holds %d keys, want the first alone", len(content(t, j)))
		}
		if err == nil {
			closeIt(t, j)
		}
	}
}

// several segments of a few groups each, of which none goes.
var several = sizes{segment: 120, spare: 1 << 20, sync: small.sync}

// A bit that has changed anywhere, in the newest segment or in another, is noticed, and never becomes a value.
func TestFlippedAtEveryByte(t *testing.T) {
	for segments, sizes := range map[int]sizes{1: large, 3: several} {
		folder := t.TempDir()
		j, err := open(folder, quiet, sizes)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			write(t, j, put(key, "a value of "+key))
		}
		write(t, j, scheduler.Change{Key: "zeros", Value: make([]byte, 3*sector)}) // they are no hole
		closeIt(t, j)
		all := files(t, folder)
		if len(all) < segments {
			t.Fatalf("%d segments, want %d", len(all), segments)
		}
		for name, text := range all {
			for at := range text {
				flipped := append([]byte(nil), text...)
				flipped[at] ^= 1 << (at % 8)
				changed := maps.Clone(all)
				changed[name] = flipped
				j, err := reopen(t, changed)
				var damage *Damaged
				if !errors.As(err, &damage) || filepath.Base(damage.Path) != name || damage.Offset > int64(at) {
					t.Fatalf("byte %d of %s flipped: %v", at, name, err)
				}
				if j != nil {
					t.Fatal("a journal comes with an error")
				}
			}
		}
	}
}

// A segment that is missing, the oldest or another, or cut short, is noticed.
func TestAMissingSegment(t *testing.T) {
	folder := t.TempDir()
	j, err := open(folder, quiet, several)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		write(t, j, put(key, "a value of "+key))
	}
	closeIt(t, j)
	list, err := segments(folder)
	if err != nil || len(list) < 3 {
		t.Fatal(len(list), err)
	}
	for _, damage := range []func(files map[string][]byte, name string){
		func(files map[string][]byte, name string) { delete(files, name) },
		func(files map[string][]byte, name string) { files[name] = files[name][:len(files[name])-1] },
		func(files map[string][]byte, name string) { files[name] = files[name][:headerSize] },
		func(files map[string][]byte, name string) { files[name] = nil },
	} {
		all := files(t, folder)
		for _, s := range list[:2] {
			all := maps.Clone(all)
			damage(all, filepath.Base(s.path))
			if _, err := reopen(t, all); !errors.As(err, new(*Damaged)) {
				t.Errorf("%s: %v", s.path, err)
			}
		}
	}
	last := filepath.Base(list[len(list)-1].path)
	if _, err := reopen(t, map[string][]byte{last: nil}); !errors.As(err, new(*Damaged)) {
		t.Errorf("nothing is left but a file that was not begun: %v", err)
	}
}

// The oldest segment may go when its live values have moved, and is missed only if it went in another way.
func TestTheOldestIsMissed(t *testing.T) {
	folder := t.TempDir()
	j := must(t, folder)
	for i := 0; len(j.segments) < 2 || firstOf(j.segments[0].path) == 1; i++ {
		write(t, j, put("stays", "x"), put("a", fmt.Sprint("a value ", i)))
	}
	write(t, j, scheduler.Change{Key: "fills", Value: make([]byte, small.segment)})
	write(t, j, put("is", "the next"))
	all, oldest := files(t, folder), filepath.Base(j.segments[0].path)
	closeIt(t, j)
	again, err := reopen(t, all)
	if err != nil {
		t.Fatal(err)
	}
	closeIt(t, again)
	delete(all, oldest)
	if _, err := reopen(t, all); !errors.As(err, new(*Damaged)) || !strings.Contains(err.Error(), "a file is missing") {
		t.Errorf("without %s: %v", oldest, err)
	}
}

// What is dropped of a segment that was not begun can be looked at.
func TestAnUnbegunSegmentIsPutAside(t *testing.T) {
	name := nameOf(1)
	j, err := reopen(t, map[string][]byte{name: []byte("begin")})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if text, err := os.ReadFile(filepath.Join(j.folder, name+aside)); err != nil || string(text) != "begin" {
		t.Errorf("%q, %v", text, err)
	}
}

// Whatever bytes the newest segment has, opening it neither panics nor hangs, and what it holds is the work of groups that were written.
func FuzzNewestSegment(f *testing.F) {
	folder := f.TempDir()
	states, _ := sample(f, folder, 4)
	name, text := only(files(f, folder))
	f.Add(0, 0, byte(0))
	f.Add(40, 3, byte(1))
	f.Add(len(text), 0, byte(255))
	f.Fuzz(func(t *testing.T, at, length int, xor byte) {
		changed := append([]byte(nil), text...)
		if at < 0 || length < 0 || at > len(changed) || length > 64 {
			return
		}
		for i := at; i < min(at+length, len(changed)); i++ {
			changed[i] ^= xor
		}
		if length == 0 {
			changed = changed[:at]
		}
		j, err := reopen(t, map[string][]byte{name: changed})
		if err != nil {
			if !errors.As(err, new(*Damaged)) {
				t.Fatal(err)
			}
			return
		}
		defer j.Close()
		got := content(t, j)
		for _, state := range states {
			if maps.Equal(got, state) {
				return
			}
		}
		t.Fatalf("holds %q, which it never did", got)
	})
}

// Arbitrary bytes for the changes of a group are changes or are not, and nothing else happens.
func FuzzChanges(f *testing.F) {
	f.Add(appendChange(appendChange(nil, putOne, "key", []byte("value")), dropAll, "prefix", nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		for len(text) > 0 {
			kind, key, value, rest, ok := nextChange(text)
			if !ok {
				return
			}
			if again := appendChange(nil, kind, string(key), value); len(again) > len(text)-len(rest) {
				t.Fatalf("%q becomes %q", text[:len(text)-len(rest)], again)
			}
			text = rest
		}
	})
}
