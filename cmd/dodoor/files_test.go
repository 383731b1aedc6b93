package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a cluster and its commands write of users' tasks is for its owner alone, whatever the umask is.
func TestFilesOfRunsAreTheirOwners(t *testing.T) {
	root := t.TempDir()
	in := func(path ...string) string { return filepath.Join(append([]string{root}, path...)...) }
	defer syscall.Umask(syscall.Umask(0))
	t.Setenv("XDG_CACHE_HOME", in("cache"))
	does := func(args ...string) {
		t.Helper()
		if _, stderr, code := dodoor(args...); code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	l := running(t, `process.allow=["*"]`, `worker.executor="process"`, fmt.Sprintf("worker.spool=%q", in("spool")),
		fmt.Sprintf("scheduler.journal=%q", in("journal")))
	does("run", "-conf", "single", "-datastore", l.Address(), "-out", in("printed"), "--", "sh", "-c",
		"echo {}; echo more >&2", ":::", "a", "b")
	trace := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(trace, []byte("0,1,32,0,1,0,simulated,short\n1,1,32,0,1,1,simulated,short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	does("local", "-conf", "single", "-quiet", "-set", `http.listen=""`, "-set", sleeping, "-trace", trace, "-n", "2", "-warmup", "0",
		"-out", in("runs", "one"))
	does("report", in("runs", "one"))
	seen := map[string]int{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if first, _, below := strings.Cut(rel, string(os.PathSeparator)); below {
			seen[first]++
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", rel, info.Mode())
		}
		return nil
	})
	if err != nil || seen["printed"] < 4 || seen["runs"] < 5 || seen["journal"] == 0 || seen["spool"] == 0 {
		t.Errorf("%v: files below %v", err, seen)
	}
}
