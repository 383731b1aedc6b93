package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// place is where a process stands among the groups of version 2.
type place struct {
	mount  string // of the groups
	self   string // /proc/self/cgroup
	booted string // exists where systemd runs the machine: sd_booted(3)
	pid    int
}

func here(mount string) place {
	return place{mount: mount, self: "/proc/self/cgroup", booted: "/run/systemd/system", pid: os.Getpid()}
}

// leaf is where the processes of a group go so that groups in it can have limits. A program that starts there, like a
// worker that is started again, divides the group above.
const leaf = "dodoor-worker"

// subtree finds the group that this process may divide among its tasks, and fails, with what to change, where there is
// none. It changes nothing.
func (p place) subtree() (folder string, err error) {
	text, err := os.ReadFile(p.self)
	if err != nil {
		return "", fmt.Errorf("which control group is this process in: %w", err)
	}
	name, found := groupOf(string(text), "")
	if !found {
		return "", fmt.Errorf("%s names no group of version 2, although %s has them", p.self, p.mount)
	}
	if path.Base(name) == leaf {
		name = path.Dir(name)
	}
	folder = filepath.Join(p.mount, name)
	if _, err := os.Stat(folder); err != nil || strings.HasPrefix(name, "/..") {
		return "", fmt.Errorf("this process's control group, %s, is not below %s: a container needs control groups of its own "+
			"(docker run --cgroupns=private)", name, p.mount)
	}
	for _, check := range []func(folder string) error{checkKind, p.checkWritable, p.checkMembers} {
		if err := check(folder); err != nil {
			return "", PlaceError{err}
		}
	}
	return folder, checkControllers(folder)
}

// PlaceError says that a process may not make groups where it is, which says nothing about other places.
type PlaceError struct{ Err error }

func (e PlaceError) Error() string { return e.Err.Error() }

func (e PlaceError) Unwrap() error { return e.Err }

// isTop reports whether a group is that of the whole machine, which can have processes beside groups with limits.
func isTop(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "cgroup.type"))
	return errors.Is(err, fs.ErrNotExist)
}

// checkKind refuses groups of threads: in those, there are no limits of memory.
func checkKind(folder string) error {
	text, _ := os.ReadFile(filepath.Join(folder, "cgroup.type")) // the machine's has none
	if kind := strings.TrimSpace(string(text)); kind != "" && kind != "domain" {
		return fmt.Errorf("%s is a group of threads (cgroup.type: %s), which cannot limit memory: start the worker in another group",
			folder, kind)
	}
	return nil
}

// checkWritable refuses groups that belong to others.
func (p place) checkWritable(folder string) error {
	for _, file := range []string{".", "cgroup.procs", "cgroup.subtree_control"} {
		file := filepath.Join(folder, file)
		err := unix.Faccessat(unix.AT_FDCWD, file, unix.W_OK, unix.AT_EACCESS)
		switch {
		case err == nil:
		case errors.Is(err, unix.EROFS):
			return fmt.Errorf("%s is mounted read-only: %s", folder, mayWrite)
		default:
			var info unix.Stat_t
			_ = unix.Stat(file, &info) // without, it is root's, as most are
			return fmt.Errorf("%s: %w: it belongs to user %d, and this process is user %d's: %s", file, err, info.Uid, os.Geteuid(),
				p.remedy(folder))
		}
	}
	return nil
}

// remedy is how a worker gets a group of its own.
func (p place) remedy(folder string) string {
	if _, err := os.Stat(p.booted); err == nil {
		user := ""
		if os.Geteuid() != 0 {
			user = "--user "
		}
		return "start it in a unit that has Delegate=yes, or by systemd-run " + user + "--scope -p Delegate=yes dodoor worker ..."
	}
	switch {
	case folder == filepath.Clean(p.mount) && !isTop(folder):
		return mayWrite
	case os.Geteuid() == 0:
		return "start it in a control group of its own"
	}
	return "start it as root, or in a group that belongs to its user"
}

// mayWrite is the remedy in containers.
const mayWrite = "start its container with control groups that it may write to (docker run --privileged --cgroupns=private)"

// checkMembers refuses groups that nobody has given to this process, and in which others are: they would have to move.
func (p place) checkMembers(folder string) error {
	if isTop(folder) || p.delegated(folder) {
		return nil
	}
	pids, err := membersOf(folder)
	if err != nil {
		return err
	}
	program, err := os.Stat(fmt.Sprintf("/proc/%d/exe", p.pid))
	if err != nil {
		return fmt.Errorf("the program of this process: %w", err)
	}
	for _, pid := range pids {
		if !descends(pid, program) {
			return fmt.Errorf("%s is not the worker's alone: process %d (%s) is in there: %s", folder, pid, procfs.Name(pid), p.remedy(folder))
		}
	}
	return nil
}

// delegated reports whether whoever manages a group has given it to its processes, all of them.
func (p place) delegated(folder string) bool {
	for _, attribute := range []string{"trusted.delegate", "user.delegate"} { // systemd's: CGROUP_DELEGATION; the first is for root to see
		value := make([]byte, 8)
		if n, err := unix.Getxattr(folder, attribute, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	if _, err := os.Stat(p.booted); err == nil {
		return false
	}
	// No manager: the top of a container is all the container's, and a group that belongs to a user is the user's.
	var info unix.Stat_t
	return folder == filepath.Clean(p.mount) || os.Geteuid() != 0 && unix.Stat(folder, &info) == nil && int(info.Uid) == os.Geteuid()
}

// descends reports whether a process runs a program, or one that it descends from does: workers, what has started
// them to look after them, and what they have started.
func descends(pid int, program os.FileInfo) bool {
	for pid > 0 {
		info, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && os.SameFile(info, program) {
			return true
		}
		process, err := procfs.MembershipOf(pid)
		if err != nil {
			return true // it has just ended
		}
		pid = process.Parent
	}
	return false
}

// checkControllers names what is missing for limits.
func checkControllers(folder string) error {
	lacks, err := missing(filepath.Join(folder, "cgroup.controllers"))
	if err != nil || len(lacks) == 0 {
		return err
	}
	return fmt.Errorf("%s has no controller for %s: nobody above has delegated it (systemd: Delegate=cpu memory pids io, for a user's "+
		"units in user@.service), or version 1 has it", folder, strings.Join(lacks, " and "))
}

// needed are the controllers without which there are no limits, and wanted those that make them better.
var (
	needed = []string{"cpu", "memory"}
	wanted = []string{"pids", "io"}
)

// missing returns which of the needed controllers a list of the kernel's lacks.
func missing(list string) (lacks []string, err error) {
	all, err := listed(list)
	for _, name := range needed {
		if !slices.Contains(all, name) {
			lacks = append(lacks, name)
		}
	}
	return lacks, err
}

func listed(list string) ([]string, error) {
	text, err := procfs.ReadFile(list)
	return strings.Fields(string(text)), err
}
