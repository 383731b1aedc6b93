package journal

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/scheduler"
)

// Whatever is written is there, and nothing else, in this process and in the next one, while segments come and go.
func TestItHoldsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder, err := os.MkdirTemp("", "journal-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		j := must(t, folder)
		defer func() { j.Close() }()
		want := map[string]string{}
		change := rapid.Custom(func(t *rapid.T) scheduler.Change {
			key := rapid.StringMatching(`[a-c][0-9]{0,2}|[ab][0-2] [ab]{0,3}`).Draw(t, "key")
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				return scheduler.Change{Key: key[:rapid.IntRange(1, len(key)).Draw(t, "prefix")], All: true}
			case 1, 2, 3:
				return scheduler.Change{Key: key}
			}
			return scheduler.Change{Key: key, Value: rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "value")}
		})
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				group := rapid.SliceOfN(change, 0, 8).Draw(t, "group")
				write(t, j, group...)
				want = after(want, group)
			},
			"open": func(t *rapid.T) {
				closeIt(t, j)
				j = must(t, folder)
			},
			"": func(t *rapid.T) {
				if got := content(t, j); !maps.Equal(got, want) {
					t.Fatalf("holds %q, want %q", got, want)
				}
				if got := told(t, j, append(slices.Collect(maps.Keys(want)), "nobody")...); !maps.Equal(got, want) {
					t.Fatalf("one by one %q, want %q", got, want)
				}
				if j.Keys() != int64(len(want)) {
					t.Fatalf("%d keys, want %d", j.Keys(), len(want))
				}
			},
		})
	})
}

// What is not needed any more goes, however little is written and however long some keys stay.
func TestTheFolderStaysSmall(t *testing.T) {
	folder := t.TempDir()
	j := must(t, folder)
	defer j.Close()
	value := strings.Repeat("x", 50)
	want := map[string]string{}
	for i := range 20 {
		key := fmt.Sprintf("stays%d", i)
		write(t, j, put(key, value))
		want[key] = value
	}
	for i := range 2000 {
		write(t, j, put(fmt.Sprintf("t%d", i), value))
		write(t, j, scheduler.Change{Key: fmt.Sprintf("t%d", i)})
		if most := 4*j.places.live + small.spare + 2*small.segment; j.Bytes() > most {
			t.Fatalf("%d bytes for %d live ones: at most %d", j.Bytes(), j.places.live, most)
		}
	}
	closeIt(t, j)
	j = must(t, folder)
	if got := content(t, j); !maps.Equal(got, want) {
		t.Errorf("holds %q, want %q", got, want)
	}
}

// One folder, one process; and nobody else reads it.
func TestOneProcessPerFolder(t *testing.T) {
	folder := t.TempDir()
	j := must(t, folder)
	if _, err := Open(folder, quiet); err == nil || !strings.Contains(err.Error(), folder+" is in use by another process") {
		t.Errorf("a second one: %v", err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v (%v), want it private", info.Mode(), err)
	}
	closeIt(t, j)
	closeIt(t, must(t, folder))
}

// After a failed write nothing more is written: nobody knows what the disk has.
func TestAFailureIsFinal(t *testing.T) {
	folder := t.TempDir()
	j := must(t, folder)
	write(t, j, put("a", "1"))
	j.file.Close()
	err := j.Write([]scheduler.Change{put("b", "2")})
	if err == nil || !strings.Contains(err.Error(), "journal "+folder+" cannot be written") {
		t.Fatalf("a write to a closed file: %v", err)
	}
	if again := j.Write([]scheduler.Change{put("c", "3")}); again == nil {
		t.Error("another write is taken")
	}
	j.Close()
	j = must(t, folder)
	defer j.Close()
	if got := content(t, j); !maps.Equal(got, map[string]string{"a": "1"}) {
		t.Errorf("holds %q", got)
	}
}
