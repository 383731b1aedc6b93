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

// version2 is the folder of the group that this process may divide.
type version2 struct{ root string }

// findVersion2 fails where version 2 is mounted, and this process may not use it.
func findVersion2(p place) (v Version, found bool, err error) {
	if _, err := os.Stat(filepath.Join(p.mount, "cgroup.controllers")); err != nil {
		return nil, false, nil
	}
	root, err := p.subtree()
	return version2{root}, true, err
}

// Roots: there is one.
func (v version2) Roots() []string { return []string{v.root} }

// Delegate: no group but the machine's first can have processes beside groups with limits, so those that are there move.
func (v version2) Delegate(name string) error {
	folder := filepath.Join(v.root, name)
	for range moves {
		if err := enable(folder); !errors.Is(err, unix.EBUSY) {
			return err
		}
		if err := moveAll(folder, filepath.Join(folder, leaf)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: processes come faster than they can be moved", folder)
}

// moves is how often to move processes that have come meanwhile.
const moves = 100

// enable lets the groups in a group have limits.
func enable(folder string) error {
	list := filepath.Join(folder, "cgroup.subtree_control")
	has, err := listed(list)
	if err != nil {
		return err
	}
	offers, _ := listed(filepath.Join(folder, "cgroup.controllers"))
	var words []string
	for _, name := range slices.Concat(needed, wanted) {
		if !slices.Contains(has, name) && (slices.Contains(needed, name) || slices.Contains(offers, name)) {
			words = append(words, "+"+name)
		}
	}
	if len(words) == 0 {
		return nil
	}
	return write(strings.Join(words, " "), list)
}

// moveAll moves the processes of a group to another, which need not be there yet.
func moveAll(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	pids, err := membersOf(from)
	for _, pid := range pids {
		if pid == 0 {
			return fmt.Errorf("%s has processes that this one cannot see: start the worker in a group of its own", from)
		}
		if err := write(strconv.Itoa(pid), to, "cgroup.procs"); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move process %d out of %s: %w", pid, from, err)
		}
	}
	return err
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
	for file, value := range map[string]string{
		"memory.oom.group": "1",                  // since Linux 4.19: a task dies as a whole
		"pids.max":         g.limits.processes(), // where there is that controller
	} {
		if err := write(value, v.root, g.name, file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
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
	err = fork()
	if errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: Linux before 5.7, or a container that filters system calls (clone3), starts nothing in a group", err)
	}
	return err
}

// Renewable: what a group took, and the most of it, cannot be forgotten, but for one reader of some kernels.
func (version2) Renewable() bool { return false }

// Renew is not for this version.
func (version2) Renew(*Group) bool { return false }

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
