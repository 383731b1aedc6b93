package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroupV1 is the folders at which the hierarchies of version 1 are mounted. cpu and cpuacct may be one.
type cgroupV1 struct{ cpu, cpuacct, memory string }

func findCgroupV1(root string) (cgroupVersion, bool) {
	var found []string
	for _, file := range []string{"cpu/cpu.cfs_quota_us", "cpuacct/cpuacct.usage", "memory/memory.limit_in_bytes"} {
		path, err := filepath.EvalSymlinks(filepath.Join(root, file))
		if err != nil {
			return nil, false
		}
		found = append(found, filepath.Dir(path))
	}
	return cgroupV1{cpu: found[0], cpuacct: found[1], memory: found[2]}, true
}

func (v cgroupV1) roots() []string {
	return slices.Compact([]string{v.cpu, v.cpuacct, v.memory})
}

// delegate has nothing to do: every group can have limits.
func (cgroupV1) delegate(string) error { return nil }

// confine leaves CPU time to start.
func (v cgroupV1) confine(g *cgroup) error {
	bytes := strconv.FormatInt(g.limits.memory, 10)
	if err := setCgroup(bytes, v.memory, g.name, "memory.limit_in_bytes"); err != nil {
		return err
	}
	// The sum of memory and swap, which the kernel need not count.
	err := setCgroup(bytes, v.memory, g.name, "memory.memsw.limit_in_bytes")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// cfsPeriod is the kernel's own default, in microseconds.
const cfsPeriod = 100_000

func cfsQuota(l limits) string { return strconv.FormatInt(l.millicores*cfsPeriod/1000, 10) }

// start moves this thread into the group while it forks: a child begins where its parent thread is.
//
// That is safe for the others in this process. They stay where they are, and so does the memory of the
// process, which goes by its first thread, and that is never this one (onThread); a kernel out of memory
// in the group picks whole processes that are in there, and this one is not. Go does not start threads
// from one that is locked to its goroutine, so nobody inherits the place. The way back is open before
// the thread goes in; should it fail nevertheless, the thread ends with its goroutine. There is no limit
// of CPU time yet: the kernel would stop the thread wherever it is, and Go with it whenever all threads
// are to meet. The program gets it a moment after its first instruction.
func (v cgroupV1) start(g *cgroup, _ *exec.Cmd, fork func() error) error {
	home, err := v.homes()
	defer func() {
		for _, f := range home {
			f.Close()
		}
	}()
	if err != nil {
		return err
	}
	for _, root := range v.roots() {
		if err = setCgroup(thisThread, root, g.name, "tasks"); err != nil {
			break
		}
	}
	if err == nil {
		err = fork()
	}
	for _, f := range home {
		_, back := f.WriteString(thisThread)
		err = errors.Join(err, back)
	}
	if err != nil {
		return err
	}
	return setCgroup(cfsQuota(g.limits), v.cpu, g.name, "cpu.cfs_quota_us")
}

// thisThread is what the kernel takes for the thread that writes it.
const thisThread = "0"

// homes opens the lists of threads of the groups that this thread is in.
func (v cgroupV1) homes() (lists []*os.File, err error) {
	text, err := os.ReadFile("/proc/thread-self/cgroup")
	if err != nil {
		return nil, err
	}
	for _, root := range v.roots() {
		name, found := groupOf(string(text), v.controller(root))
		if !found {
			return lists, fmt.Errorf("this process is in no control group of %s", root)
		}
		f, err := os.OpenFile(filepath.Join(root, name, "tasks"), os.O_WRONLY, 0)
		if err != nil {
			return lists, fmt.Errorf("the way back to this process's own control group: %w", err)
		}
		lists = append(lists, f)
	}
	return lists, nil
}

func (v cgroupV1) controller(root string) string {
	switch root {
	case v.cpu:
		return "cpu"
	case v.cpuacct:
		return "cpuacct"
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

// hasten lifts the limit of CPU time: a process has to run to die, and to give back much memory takes
// long.
func (v cgroupV1) hasten(name string) {
	_ = setCgroup("-1", v.cpu, name, "cpu.cfs_quota_us") // it dies all the same, later
}

func (v cgroupV1) account(name string) account {
	return account{
		cpu:  filepath.Join(v.cpuacct, name, "cpuacct.usage"),
		peak: filepath.Join(v.memory, name, "memory.max_usage_in_bytes"),
	}
}

func (v cgroupV1) outOfMemory(name string) bool {
	value := func(file string) int64 { return counter(filepath.Join(v.memory, name, file), "") }
	if counter(filepath.Join(v.memory, name, "memory.oom_control"), "oom_kill") == 0 {
		return false
	}
	// Killed, but was it at this limit, or for want of memory in the whole machine? The limits with and
	// without swap are equal, so either may have been met first. Not every kernel counts how often.
	for _, kind := range []string{"memory", "memory.memsw"} {
		if value(kind+".failcnt") > 0 || value(kind+".max_usage_in_bytes") >= value("memory.limit_in_bytes") {
			return true
		}
	}
	return false
}
