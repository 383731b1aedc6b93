package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/needs"
	"dodoor/worker/executor/executortest"
)

// fakePlace is a process in a group of a tree of files, on a machine with systemd or without.
func fakePlace(t *testing.T, group string, systemd bool, files map[string]string) place {
	t.Helper()
	all := map[string]string{"self": "1:cpu:/\n"}
	if group != "" {
		all["self"] += "0::" + group + "\n"
	}
	if systemd {
		all["booted"] = ""
	}
	for name, text := range files {
		all["groups/"+name] = text
	}
	root := executortest.Tree(t, all)
	return place{mount: root + "/groups", self: root + "/self", booted: root + "/booted", pid: os.Getpid()}
}

// group is the files of a group with these members.
func group(name string, members ...int) map[string]string {
	text := ""
	for _, pid := range members {
		text += fmt.Sprintln(pid)
	}
	return map[string]string{name + "/cgroup.type": "domain\n", name + "/cgroup.procs": text, name + "/cgroup.subtree_control": "",
		name + "/cgroup.controllers": "cpu io memory pids\n"}
}

func TestSubtree(t *testing.T) {
	child := exec.Command("/bin/sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		child.Process.Kill()
		child.Wait()
	}()
	own := os.Getpid()
	threads, few := group("t", own), group("f", own)
	threads["t/cgroup.type"], few["f/cgroup.controllers"] = "domain threaded\n", "memory pids\n"
	for _, c := range []struct {
		name, group string
		systemd     bool
		files       map[string]string
		want        string // the group
		fails       string // or what it says
	}{
		{"a unit", "/system.slice/d.service", true, group("system.slice/d.service", own, child.Process.Pid), "/system.slice/d.service", ""},
		{"again", "/system.slice/d.service/" + leaf, true, group("system.slice/d.service"), "/system.slice/d.service", ""},
		{"a session", "/session", true, group("session", own, 1), "", "by systemd-run --scope -p Delegate=yes dodoor worker"},
		{"shared without a manager", "/shared", false, group("shared", 1), "", "is not the worker's alone: process 1 ("},
		{"a container", "/", false, group(".", own, 1), "/", ""},
		{"somebody who has ended", "/d", true, group("d", own, executortest.Nobody), "/d", ""},
		{"another's groups", "/../d", false, nil, "", "docker run --cgroupns=private"},
		{"a group elsewhere", "/d", false, nil, "", "docker run --cgroupns=private"},
		{"threads", "/t", false, threads, "", "is a group of threads (cgroup.type: domain threaded)"},
		{"few controllers", "/f", true, few, "", "has no controller for cpu: nobody above has delegated it"},
		{"no group", "", false, nil, "", "names no group of version 2"},
	} {
		p := fakePlace(t, c.group, c.systemd, c.files)
		got, err := p.subtree()
		if c.fails == "" && (err != nil || got != filepath.Join(p.mount, c.want)) {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.fails)
		}
	}
}

// Whoever manages groups says that one is the process's own, whoever else is in it.
func TestDelegatedByAttribute(t *testing.T) {
	p := fakePlace(t, "/d", true, group("d", 1))
	if _, err := p.subtree(); !errors.As(err, &PlaceError{}) {
		t.Errorf("not delegated: %v", err)
	}
	folder := filepath.Join(p.mount, "d")
	if err := unix.Setxattr(folder, "user.delegate", []byte("1"), 0); err != nil {
		needs.Real(t, &fs.PathError{Op: "attributes of files in", Path: folder, Err: err})
	}
	if got, err := p.subtree(); err != nil || got != folder {
		t.Errorf("%s, %v", got, err)
	}
	if err := unix.Setxattr(folder, "user.delegate", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.subtree(); err == nil {
		t.Error("delegated by another value")
	}
}

// What moves is every process that a group has, once; who has ended meanwhile does not matter.
func TestMoveAll(t *testing.T) {
	root := executortest.Tree(t, map[string]string{"cgroup.procs": "7\n8\n", "hidden/cgroup.procs": "0\n", leaf + "/cgroup.procs": ""})
	if err := moveAll(root, filepath.Join(root, leaf)); err != nil {
		t.Error(err)
	}
	contents(t, root, map[string]string{leaf + "/cgroup.procs": "8"}) // the last that was written
	if err := moveAll(filepath.Join(root, "hidden"), filepath.Join(root, leaf)); err == nil || !strings.Contains(err.Error(), "cannot see") {
		t.Errorf("processes of others: %v", err)
	}
	if err := moveAll(filepath.Join(root, "gone"), filepath.Join(root, leaf)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group that is gone: %v", err)
	}
}
