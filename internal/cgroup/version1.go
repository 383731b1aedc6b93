package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// version1 is the folders at which the hierarchies of version 1 are mounted. cpu and cpuacct may be one, and pids, before
// Linux 4.3, none.
type version1 struct{ cpu, cpuacct, memory, pids string }

func findVersion1(root string) (Version, bool) {
	var found []string
	for _, file := range []string{"cpu/cpu.cfs_quota_us", "cpuacct/cpuacct.usage", "memory/memory.limit_in_bytes"} {
		path, err := filepath.EvalSymlinks(filepath.Join(root, file))
		if err != nil {
			return nil, false
		}
		found = append(found, filepath.Dir(path))
	}
	v := version1{cpu: found[0], cpuacct: found[1], memory: found[2]}
	// The first group of this one may be without limits, so it has no file that says more.
	if path, err := filepath.EvalSymlinks(filepath.Join(root, "pids/cgroup.procs")); err == nil {
		v.pids = filepath.Dir(path)
	}
	return v, true
}

// Roots: cpu and cpuacct may be at one place.
func (v version1) Roots() []string {
	roots := slices.Compact([]string{v.cpu, v.cpuacct, v.memory})
	if v.pids != "" && !slices.Contains(roots, v.pids) {
		roots = append(roots, v.pids)
	}
	return roots
}

// Delegate has nothing to do: every group can have limits.
func (version1) Delegate(string) error { return nil }

// Confine leaves CPU time and the number of processes to Start.
func (v version1) Confine(g *Group) error {
	bytes := strconv.FormatInt(g.limits.Memory, 10)
	if err := write(bytes, v.memory, g.name, "memory.limit_in_bytes"); err != nil {
		return err
	}
	// The sum of memory and swap, which the kernel need not count.
	err := write(bytes, v.memory, g.name, "memory.memsw.limit_in_bytes")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// cfsPeriod is the kernel's own default, in microseconds.
const cfsPeriod = 100_000

func cfsQuota(l Limits) string { return strconv.FormatInt(l.Millicores*cfsPeriod/1000, 10) }

// Start moves this thread into the group while it forks: a child begins where its parent thread is.
//
// That is safe for the others in this process. They stay where they are, and so does the memory of the
// process, which goes by its first thread, and that is never the one that gets here (procgroup sees to that); a kernel out of memory
// in the group picks whole processes that are in there, and this one is not. Go does not start threads
// from one that is locked to its goroutine, so nobody inherits the place. The way back is open before
// the thread goes in; should it fail nevertheless, the thread ends with its goroutine. There is no limit
// of CPU time yet: the kernel would stop the thread wherever it is, and Go with it whenever all threads
// are to meet; nor of processes, among which it would count. The program gets both a moment after its first instruction.
func (v version1) Start(g *Group, _ *syscall.SysProcAttr, fork func() error) error {
	own, err := v.ownGroups()
	defer func() {
		for _, l := range own {
			unix.Close(l.fd)
		}
	}()
	if err != nil {
		return err
	}
	for _, root := range v.Roots() {
		if err = write(thisThread, root, g.name, "tasks"); err != nil {
			break
		}
	}
	if err == nil {
		err = fork()
	}
	for _, l := range own {
		err = errors.Join(err, procfs.Write(l.fd, l.path, thisThread))
	}
	if err != nil {
		return err
	}
	if v.pids != "" {
		if err := write(g.limits.processes(), v.pids, g.name, "pids.max"); err != nil {
			return err
		}
	}
	return write(cfsQuota(g.limits), v.cpu, g.name, "cpu.cfs_quota_us")
}

// thisThread is what the kernel takes for the thread that writes it.
const thisThread = "0"

// threads is the open list of threads of a group.
type threads struct {
	fd   int
	path string
}

// ownGroups opens the lists of threads of the groups that this thread is in.
func (v version1) ownGroups() (lists []threads, err error) {
	text, err := procfs.ReadFile("/proc/thread-self/cgroup")
	if err != nil {
		return nil, err
	}
	for _, root := range v.Roots() {
		name, found := groupOf(string(text), v.controller(root))
		if !found {
			return lists, fmt.Errorf("this process is in no control group of %s", root)
		}
		path := filepath.Join(root, name, "tasks")
		fd, err := procfs.Open(path, unix.O_WRONLY)
		if err != nil {
			return lists, fmt.Errorf("the way back to this process's own control group: %w", err)
		}
		lists = append(lists, threads{fd, path})
	}
	return lists, nil
}

func (v version1) controller(root string) string {
	switch root {
	case v.cpu:
		return "cpu"
	case v.cpuacct:
		return "cpuacct"
	case v.pids:
		return "pids"
	}
	return "memory"
}

// groupOf finds a controller's group in a list of lines number:controllers:group.
func groupOf(text, controller string) (group string, found bool) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}

// Renewable: most of what the kernel counts can begin anew.
func (version1) Renewable() bool { return true }

// leftover is how much memory, in bytes, may still count for a group that serves again: what the kernel keeps in store for a
// group on every CPU. It keeps, and counts, as much for a new one as soon as that uses any.
func leftover(l Limits) int64 { return min(int64(runtime.NumCPU()+1)*(256<<10), l.Memory/8) }

// Renew: a group that has met a limit does not serve again, since how often cannot be forgotten; nor does one in which there are
// others, or whose files are still in memory.
func (v version1) Renew(g *Group) bool {
	for _, root := range v.Roots() {
		var info unix.Stat_t
		if unix.Stat(filepath.Join(root, g.name), &info) != nil || info.Nlink != 2 {
			return false
		}
	}
	memory := func(file string) int64 { return counter(filepath.Join(v.memory, g.name, file), "") }
	if memory("memory.usage_in_bytes") > leftover(g.limits) || memory("memory.max_usage_in_bytes") >= g.limits.Memory ||
		counter(filepath.Join(v.memory, g.name, "memory.oom_control"), "oom_kill") > 0 || v.OutOfProcesses(g.name) {
		return false
	}
	for _, w := range []struct{ value, root, file string }{
		{"-1", v.cpu, "cpu.cfs_quota_us"}, {"max", v.pids, "pids.max"}, // for Start
		{"0", v.cpuacct, "cpuacct.usage"}, {"0", v.memory, "memory.max_usage_in_bytes"}, {"0", v.memory, "memory.memsw.max_usage_in_bytes"},
	} {
		if w.root == "" {
			continue
		}
		if err := write(w.value, w.root, g.name, w.file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false
		}
	}
	return true
}

// BeginKill lifts the limit of CPU time: a process has to run to die, and to give back much memory takes
// long.
func (v version1) BeginKill(name string) {
	_ = write("-1", v.cpu, name, "cpu.cfs_quota_us") // it dies all the same, later
}

// Account: two controllers have a part each.
func (v version1) Account(name string) Account {
	return Account{
		cpu:  filepath.Join(v.cpuacct, name, "cpuacct.usage"),
		peak: filepath.Join(v.memory, name, "memory.max_usage_in_bytes"),
	}
}

// OutOfMemory tells the limit of the group from the want of memory in the whole machine.
func (v version1) OutOfMemory(name string) bool {
	value := func(file string) int64 { return counter(filepath.Join(v.memory, name, file), "") }
	if counter(filepath.Join(v.memory, name, "memory.oom_control"), "oom_kill") == 0 {
		return false
	}
	// Killed, but was it at this limit? The limits with and without swap are equal, so either may have been
	// met first. Not every kernel counts how often.
	for _, kind := range []string{"memory", "memory.memsw"} {
		if value(kind+".failcnt") > 0 || value(kind+".max_usage_in_bytes") >= value("memory.limit_in_bytes") {
			return true
		}
	}
	return false
}

// OutOfProcesses: the kernel counts since Linux 4.8.
func (v version1) OutOfProcesses(name string) bool {
	return v.pids != "" && counter(filepath.Join(v.pids, name, "pids.events"), "max") > 0
}
