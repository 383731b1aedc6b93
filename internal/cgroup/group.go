package cgroup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/poll"
	"dodoor/internal/procfs"
)

// Group is the control group of one task, or one that holds others.
type Group struct {
	version Version
	name    string
	limits  Limits
	empty   atomic.Bool // Kill has found nobody, and nothing has started since
}

// How long to wait for processes that were killed, and how often to look. They take a moment to die, more
// if they held much memory.
const (
	killLimit = 10 * time.Second
	killPoll  = 2 * time.Millisecond
)

// Start has a program begin inside the group: fork starts it with these attributes, on this thread, which nobody else may use.
func (g *Group) Start(attr *syscall.SysProcAttr, fork func() error) error {
	g.empty.Store(false)
	return g.version.Start(g, attr, fork)
}

// Name is the group's path below where control groups are mounted.
func (g *Group) Name() string { return g.name }

// Kill kills whatever runs in a group until nothing does, and reports whether it succeeded.
func (g *Group) Kill() bool {
	return g.until(func() bool {
		members := g.members()
		if len(members) == 0 {
			g.empty.Store(true)
			return true
		}
		g.version.BeginKill(g.name)
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails when it has just ended
		}
		return false
	})
}

// Remove removes a group and those that its processes made in it. The kernel refuses as long as one of
// them has not left altogether.
func (g *Group) Remove() (err error) {
	g.until(func() bool {
		err = nil
		for _, folder := range g.folders() {
			if failure := syscall.Rmdir(folder); failure != nil && !errors.Is(failure, fs.ErrNotExist) {
				err = errors.Join(err, &fs.PathError{Op: "rmdir", Path: folder, Err: failure})
			}
		}
		return err == nil
	})
	return err
}

// until tries something until it is done, for as long as killed processes may take to end.
func (g *Group) until(done func() bool) bool {
	if done() {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	return poll.Until(ctx, killPoll, done)
}

// members lists the processes of a group and of those in it. This process is never among them, even if a
// thread of its own is there.
func (g *Group) members() []int {
	pids := map[int]bool{}
	for _, folder := range g.folders() {
		all, _ := membersOf(folder)
		for _, pid := range all {
			if pid > 1 && pid != os.Getpid() {
				pids[pid] = true
			}
		}
	}
	return slices.Collect(maps.Keys(pids))
}

// membersOf lists the processes of one folder. The kernel has 0 for those that this process cannot see.
func membersOf(folder string) (pids []int, err error) {
	text, err := procfs.ReadFile(filepath.Join(folder, "cgroup.procs"))
	for _, field := range bytes.Fields(text) {
		pids = append(pids, int(procfs.Number(field)))
	}
	return pids, err
}

// folders lists the folders of a group and of those in it, the deepest first.
func (g *Group) folders() (all []string) {
	for _, root := range g.version.Roots() {
		folder := filepath.Join(root, g.name)
		if info := new(unix.Stat_t); unix.Stat(folder, info) == nil && info.Nlink == 2 {
			all = append(all, folder) // the kernel counts those in it as further names, like most file systems
			continue
		}
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				all = append(all, path)
			}
			return nil // what is not there is not to be removed
		})
	}
	slices.Reverse(all)
	return all
}

// Account is where the kernel notes what the group took.
func (g *Group) Account() Account { return g.version.Account(g.name) }

// OutOfMemory reports whether the kernel killed a process at the group's limit of memory.
func (g *Group) OutOfMemory() bool { return g.version.OutOfMemory(g.name) }

// OutOfProcesses reports whether the kernel refused the group a process or thread at its limit.
func (g *Group) OutOfProcesses() bool { return g.version.OutOfProcesses(g.name) }
