package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker/executor"
	"dodoor/worker/executor/executortest"
)

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	var info unix.Stat_t
	if err := unix.Lstat(path, &info); err != nil {
		t.Fatal(err)
	}
	return int(info.Uid)
}

// ofUser makes a folder that belongs to a user.
func ofUser(t *testing.T, u *procgroup.User, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, u.UID, u.GID); err != nil {
		t.Fatal(err)
	}
}

// While this process writes in a task's folder no task can have put anything in it.
func TestFoldersAreGivenLast(t *testing.T) {
	p, _ := newCommands(t, off)
	u := asNobody(t, p)
	dir, err := everybodys(t, p).workFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer removeWorkFolder(dir.Name())
	defer dir.Close()
	s := command(cluster.Template{Script: []byte("#!/bin/sh\n"), Stdin: []byte("input")}, 1)
	program, err := everybodys(t, p).program(&s, dir, executor.NewCapture(nil, &s))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Input.Close()
	if folder, script := ownerOf(t, dir.Name()), ownerOf(t, dir.Name()+"/script"); folder != os.Geteuid() || script != u.UID {
		t.Errorf("the folder is %d's, the script %d's", folder, script)
	}
}

// What somebody has put where a task's files belong is not written to, nor given away: neither in the folder nor in its place.
func TestFilesOfTasksFollowNoLinks(t *testing.T) {
	for _, planted := range []string{"script", "stdin", "folder"} {
		p, _ := newCommands(t, off)
		u := asNobody(t, p)
		elsewhere := t.TempDir()
		target := filepath.Join(elsewhere, "script")
		if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		dir, err := everybodys(t, p).workFolder()
		if err != nil {
			t.Fatal(err)
		}
		defer removeWorkFolder(dir.Name())
		defer dir.Close()
		link, to := filepath.Join(dir.Name(), planted), target
		if planted == "folder" {
			if err := os.Rename(dir.Name(), dir.Name()+".2"); err != nil {
				t.Fatal(err)
			}
			defer removeWorkFolder(dir.Name() + ".2")
			link, to = dir.Name(), elsewhere
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		s := command(cluster.Template{Script: []byte("#!/bin/sh\n"), Stdin: []byte("input")}, 1)
		if _, err := everybodys(t, p).program(&s, dir, executor.NewCapture(nil, &s)); (err == nil) != (planted == "folder") {
			t.Errorf("%s: %v", planted, err)
		}
		if err := u.Give(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(target)
		if err != nil || string(text) != "mine" || ownerOf(t, target) != 0 || ownerOf(t, elsewhere) != 0 {
			t.Errorf("%s: %q, %v", planted, text, err)
		}
	}
}

// Spare folders are this process's again, until a task is given one: nobody puts anything in them meanwhile.
func TestSpareFoldersOfAnotherUser(t *testing.T) {
	p := newProcess(t, off)
	asNobody(t, p)
	for range 3 {
		executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "print=x")))
	}
	if len(spareFolders(p)) != 1 || ownerOf(t, spareFolders(p)[0]) != os.Geteuid() {
		t.Fatalf("spares: %v", spareFolders(p))
	}
}

// A folder that its user has exchanged for another of the user's is no spare, and what it was exchanged for goes.
func TestExchangedFoldersAreNoSpares(t *testing.T) {
	p := newProcess(t, off)
	u := asNobody(t, p)
	dir, err := everybodys(t, p).workFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := u.Give(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir.Name(), filepath.Join(t.TempDir(), "kept")); err != nil {
		t.Fatal(err)
	}
	ofUser(t, u, dir.Name())
	p.spares.keep(dir, p.cfg.User, p.rule.Owner)
	if left, err := os.ReadDir(os.TempDir()); len(spareFolders(p)) != 0 || err != nil || strings.Contains(names(left), workFolder) {
		t.Errorf("spares: %v, left: %s, %v", spareFolders(p), names(left), err)
	}
}

func names(entries []os.DirEntry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// A worker whose temporary files its tasks' user cannot reach says so instead of failing every task.
func TestUnreachableTemporaryFiles(t *testing.T) {
	p := newProcess(t, off)
	asNobody(t, p)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(os.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(closed)
	t.Setenv("TMPDIR", closed)
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "TMPDIR, "+closed+", is not reachable for user nobody: ") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(closed); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
