package executor

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// cgroup is the control group of one task, or one that holds others.
type cgroup struct {
	version cgroupVersion
	name    string
	limits  limits
}

// How long to wait for processes that were killed, and how often to look. They take a moment to die, more
// if they held much memory.
const (
	dyingLimit = killLimit
	dyingLook  = 2 * time.Millisecond
)

// kill kills whatever runs in a group until nothing does, and reports whether it succeeded.
func (g *cgroup) kill() bool {
	return g.until(func() bool {
		g.version.hasten(g.name)
		members := g.members()
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails when it has just ended
		}
		return len(members) == 0
	})
}

// remove removes a group and those that its processes made in it. The kernel refuses as long as one of
// them has not left altogether.
func (g *cgroup) remove() (err error) {
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

// until tries something until it is done, for as long as the dying may take.
func (g *cgroup) until(done func() bool) bool {
	if done() {
		return true
	}
	late := time.NewTimer(dyingLimit)
	defer late.Stop()
	ticker := time.NewTicker(dyingLook)
	defer ticker.Stop()
	for {
		select {
		case <-late.C:
			return false
		case <-ticker.C:
			if done() {
				return true
			}
		}
	}
}

// members lists the processes of a group and of those in it. This process is never among them, even if a
// thread of its own is there.
func (g *cgroup) members() []int {
	pids := map[int]bool{}
	for _, folder := range g.folders() {
		text, _ := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		for _, field := range bytes.Fields(text) {
			if pid := int(number(field)); pid > 1 && pid != os.Getpid() {
				pids[pid] = true
			}
		}
	}
	return slices.Collect(maps.Keys(pids))
}

// folders lists the folders of a group and of those in it, the deepest first.
func (g *cgroup) folders() (all []string) {
	for _, root := range g.version.roots() {
		_ = filepath.WalkDir(filepath.Join(root, g.name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				all = append(all, path)
			}
			return nil // what is not there is not to be removed
		})
	}
	slices.Reverse(all)
	return all
}

func (g *cgroup) account() account { return g.version.account(g.name) }

func (g *cgroup) outOfMemory() bool { return g.version.outOfMemory(g.name) }
