package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dodoor/scheduler"
)

// synced is a file that was made durable, and its size then.
type synced struct {
	name string
	size int64
}

// watching sizes note what is made durable; a folder has no size.
func watching(sizes sizes, log *[]synced) sizes {
	sizes.sync = func(file *os.File) error {
		info, err := file.Stat()
		s := synced{name: filepath.Base(file.Name())}
		if err == nil && info.Mode().IsRegular() {
			s.size = info.Size()
		}
		*log = append(*log, s)
		return err
	}
	return sizes
}

// A group is durable when Write returns, and so are the names of the files that it needs before it.
func TestEveryWriteIsSynced(t *testing.T) {
	folder := t.TempDir()
	var log []synced
	j, err := open(folder, quiet, watching(several, &log))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	dir, begun := synced{name: filepath.Base(folder)}, func() synced { return synced{filepath.Base(j.newest().path), headerSize} }
	if want := []synced{dir, begun(), dir}; !slices.Equal(log, want) {
		t.Errorf("a folder that is new: %v, want %v", log, want)
	}
	for i := range 20 {
		log = nil
		before := len(j.segments)
		write(t, j, put("a", "a value of a"))
		var want []synced
		if len(j.segments) > before {
			want = []synced{begun(), dir}
		}
		want = append(want, synced{filepath.Base(j.newest().path), j.newest().size})
		if !slices.Equal(log, want) {
			t.Errorf("write %d: %v, want %v", i, log, want)
		}
	}
}

// The names of folders that are made are durable before anything is in them, and those of others are not touched.
func TestANewFolderIsSynced(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "all", "s1")
	for _, want := range [][]synced{{{name: "all"}, {name: filepath.Base(above)}, {name: "s1"}}, {{nameOf(1), headerSize}, {name: "s1"}}} {
		var log []synced
		j, err := open(folder, quiet, watching(several, &log))
		if err != nil {
			t.Fatal(err)
		}
		closeIt(t, j)
		if len(log) < len(want) || !slices.Equal(log[:len(want)], want) {
			t.Errorf("%v, want %v first", log, want)
		}
	}
}

// A segment goes when the group that says so is durable, and the next one goes when that one has gone for good.
func TestARemovalIsSynced(t *testing.T) {
	folder := t.TempDir()
	var log []synced
	j, err := open(folder, quiet, watching(small, &log))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for removed := 0; removed < 3; {
		oldest := j.segments[0].path
		log = nil
		write(t, j, put("a", "a value of a"))
		if j.segments[0].path != oldest {
			removed++
			want := []synced{{filepath.Base(j.newest().path), j.newest().size}, {name: filepath.Base(folder)}}
			if len(log) < 2 || !slices.Equal(log[len(log)-2:], want) {
				t.Errorf("%v, want %v at the end", log, want)
			}
		}
	}
}

// What another process left in memory alone is durable before Open returns, less what it drops.
func TestOpenIsSynced(t *testing.T) {
	folder := t.TempDir()
	_, sizes := sample(t, folder, 3)
	name, text := only(files(t, folder))
	if err := os.WriteFile(filepath.Join(folder, name), text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	var log []synced
	j, err := open(folder, quiet, watching(large, &log))
	if err != nil {
		t.Fatal(err)
	}
	closeIt(t, j)
	if want := []synced{{name, sizes[2]}, {name: filepath.Base(folder)}}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
}

// A disk that does not take what was written ends the writing, at Open too.
func TestAFailedSyncIsFinal(t *testing.T) {
	broken, sizes := errors.New("the disk is broken"), small
	j := must(t, t.TempDir())
	j.sync = func(*os.File) error { return broken }
	before := j.Bytes()
	for range 2 {
		if err := j.Write([]scheduler.Change{put("a", "1")}); !errors.Is(err, broken) {
			t.Errorf("a group that is not durable: %v", err)
		}
	}
	if info, err := os.Stat(j.newest().path); err != nil || info.Size() == before {
		t.Error("nothing was written at all")
	} else if size := info.Size(); size > before+100 {
		t.Errorf("%d bytes after %d: it is written to again", size, before)
	}
	closeIt(t, j)
	sizes.sync = j.sync
	if _, err := open(j.folder, quiet, sizes); !errors.Is(err, broken) {
		t.Errorf("opened: %v", err)
	}
}
