package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/needs"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// A folder serves again only if nothing tells it from a new one, and nobody who is left knows it.
func TestFoldersServeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(folder string) error
		again  bool
	}{
		"untouched":  {func(string) error { return nil }, true},
		"used":       {func(f string) error { return os.Remove(touch(f)) }, true},
		"file":       {func(f string) error { touch(f); return nil }, false},
		"folder":     {func(f string) error { return os.Mkdir(f+"/.x", 0o700) }, false},
		"open":       {func(f string) error { return os.Chmod(f, 0o755) }, false},
		"sticky":     {func(f string) error { return os.Chmod(f, 0o700|os.ModeSticky) }, false},
		"attributes": {func(f string) error { return unix.Setxattr(f, "user.x", []byte("x"), 0) }, false},
		"gone":       {os.Remove, false},
		"link":       {func(f string) error { return os.Rename(f, f+".2") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			s := spares{folders: map[int][]string{}}
			dir, err := makeWorkFolder("w.1.1")
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			folder := dir.Name()
			err = c.change(folder)
			if name == "link" && err == nil {
				err = os.Symlink(folder+".2", folder)
			}
			if err == unix.ENOTSUP || err == unix.EPERM {
				needs.Real(t, fmt.Errorf("attributes of files in %s: %w", os.TempDir(), err))
			}
			if err != nil {
				t.Fatal(err)
			}
			s.keep(dir, nil, "w.1.1")
			got, again := s.take(os.Geteuid())
			if again != c.again {
				t.Fatalf("%t, want %t", again, c.again)
			}
			if again {
				defer got.Close()
				if got.Name() == folder || ownerOfFolder(filepath.Base(got.Name())) != "w.1.1" || !asNew(got, os.Geteuid()) {
					t.Error(got.Name())
				}
			}
			if _, twice := s.take(os.Geteuid()); twice {
				t.Error("one folder for two tasks")
			}
		})
	}
}

func touch(folder string) string {
	file := filepath.Join(folder, "file")
	_ = os.WriteFile(file, nil, 0o600) // whoever looks at it fails
	return file
}

// Spares that somebody else has removed, or used, or that are in another place by now, are no folders for tasks.
func TestSparesAreLookedAt(t *testing.T) {
	temporary := t.TempDir()
	for name, spoil := range map[string]func(folder string){
		"removed": func(f string) { _ = os.Remove(f) },
		"used":    func(f string) { touch(f) },
		"place":   func(string) { t.Setenv("TMPDIR", t.TempDir()) },
	} {
		t.Setenv("TMPDIR", temporary)
		s := spares{folders: map[int][]string{}}
		dir, err := makeWorkFolder("w.1.1")
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		s.keep(dir, nil, "w.1.1")
		spoil(s.folders[os.Geteuid()][0])
		if got, found := s.take(os.Geteuid()); found {
			t.Errorf("%s: %s", name, got.Name())
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: left: %v, %v", name, left, err)
		}
	}
}

// Tasks one after another have one folder under names of their own, until one leaves something in it or a process
// that may know it; with the executor, all go.
func TestTasksShareNoFolder(t *testing.T) {
	p := newProcess(t, off)
	inode := func(steps ...string) (folder string, number uint64) {
		r := p.Run(t.Context(), p.task(1, 64, append(steps, "where")...))
		executortest.Finished(t, r)
		if _, err := fmt.Sscan(r.Output, &folder); err != nil {
			t.Fatal(err)
		}
		var info unix.Stat_t
		if len(spareFolders(p)) > 0 && unix.Stat(spareFolders(p)[0], &info) != nil {
			t.Fatal("the spare folder is gone")
		}
		return folder, info.Ino
	}
	first, one := inode()
	second, same := inode()
	if one == 0 || one != same || first == second {
		t.Errorf("%s, %d and %s, %d", first, one, second, same)
	}
	if _, none := inode("files=here"); none != 0 || len(spareFolders(p)) > 0 {
		t.Errorf("a folder with files serves again: %v", spareFolders(p))
	}
	ctx, cancel := context.WithCancel(t.Context())
	noted, neighbours := filepath.Join(t.TempDir(), "pids"), filepath.Join(t.TempDir(), "pids")
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "pid="+neighbours, "sleep=1h")) })
	executortest.Noted(t, neighbours, 1)
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "spawn=stranger:"+noted))) // which the neighbour keeps from its end
	if stranger := executortest.Noted(t, noted, 1)[0]; !executortest.Alive(stranger) || len(spareFolders(p)) > 0 {
		t.Errorf("a folder that a process knows serves again: %v", spareFolders(p))
	}
	cancel()
	neighbour()
}
