package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// version2 is the folder at which version 2 is mounted.
type version2 struct{ root string }

func findVersion2(root string) (Version, bool) {
	return version2{root}, hasControllers(filepath.Join(root, "cgroup.controllers"))
}

// hasControllers reports whether a list has those that limits need.
func hasControllers(list string) bool {
	text, err := os.ReadFile(list)
	all := strings.Fields(string(text))
	return err == nil && slices.Contains(all, "cpu") && slices.Contains(all, "memory")
}

// Roots: there is one.
func (v version2) Roots() []string { return []string{v.root} }

// Delegate fails in a group that has processes itself, unless it is the machine's first.
func (v version2) Delegate(name string) error {
	list := filepath.Join(v.root, name, "cgroup.subtree_control")
	if hasControllers(list) {
		return nil
	}
	return write("+cpu +memory", list)
}

// Confine has nothing left for Start.
func (v version2) Confine(g *Group) error {
	if err := write(strconv.FormatInt(g.limits.Memory, 10), v.root, g.name, "memory.max"); err != nil {
		return err
	}
	err := write("0", v.root, g.name, "memory.swap.max") // which a kernel without swap does not have
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return write(fmt.Sprintf("%s %d", cfsQuota(g.limits), cfsPeriod), v.root, g.name, "cpu.max")
}

// Start has the kernel (Linux 5.7 or later) make the process inside the group.
func (v version2) Start(g *Group, attr *syscall.SysProcAttr, fork func() error) error {
	fd, err := unix.Open(filepath.Join(v.root, g.name), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("control group %s: %w", g.name, err)
	}
	defer unix.Close(fd)
	attr.UseCgroupFD, attr.CgroupFD = true, fd
	return fork()
}

// BeginKill lifts the limit of CPU time, as under version 1, and kills where the kernel (Linux 5.14 or later)
// does that at one blow.
func (v version2) BeginKill(name string) {
	_ = write("max", v.root, name, "cpu.max")
	_ = write("1", v.root, name, "cgroup.kill")
}

// Account: the kernel has the peak of memory since Linux 5.19.
func (v version2) Account(name string) Account {
	return Account{cpu: filepath.Join(v.root, name, "cpu.stat"), peak: filepath.Join(v.root, name, "memory.peak")}
}

// OutOfMemory: a group that was killed in at a limit above its own, or at the machine's, has met no limit
// itself.
func (v version2) OutOfMemory(name string) bool {
	events := filepath.Join(v.root, name, "memory.events")
	return counter(events, "oom_kill") > 0 && counter(events, "oom") > 0
}

// OutOfProcesses: the kernel counts where it first met a limit, which may be one above.
func (v version2) OutOfProcesses(name string) bool {
	return counter(filepath.Join(v.root, name, "pids.events"), "max") > 0
}
