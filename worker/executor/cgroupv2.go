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

	"golang.org/x/sys/unix"
)

// cgroupV2 is the folder at which version 2 is mounted.
type cgroupV2 struct{ root string }

func findCgroupV2(root string) (cgroupVersion, bool) {
	return cgroupV2{root}, hasControllers(filepath.Join(root, "cgroup.controllers"))
}

// hasControllers reports whether a list has those that limits need.
func hasControllers(list string) bool {
	text, err := os.ReadFile(list)
	all := strings.Fields(string(text))
	return err == nil && slices.Contains(all, "cpu") && slices.Contains(all, "memory")
}

func (v cgroupV2) roots() []string { return []string{v.root} }

// delegate fails in a group that has processes itself, unless it is the machine's first.
func (v cgroupV2) delegate(name string) error {
	list := filepath.Join(v.root, name, "cgroup.subtree_control")
	if hasControllers(list) {
		return nil
	}
	return setCgroup("+cpu +memory", list)
}

func (v cgroupV2) confine(g *cgroup) error {
	if err := setCgroup(strconv.FormatInt(g.limits.memory, 10), v.root, g.name, "memory.max"); err != nil {
		return err
	}
	err := setCgroup("0", v.root, g.name, "memory.swap.max") // which a kernel without swap does not have
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return setCgroup(fmt.Sprintf("%s %d", cfsQuota(g.limits), cfsPeriod), v.root, g.name, "cpu.max")
}

// start has the kernel (Linux 5.7 or later) make the process inside the group.
func (v cgroupV2) start(g *cgroup, cmd *exec.Cmd, fork func() error) error {
	fd, err := unix.Open(filepath.Join(v.root, g.name), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("control group %s: %w", g.name, err)
	}
	defer unix.Close(fd)
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	return fork()
}

// hasten lifts the limit of CPU time, as under version 1, and kills where the kernel (Linux 5.14 or later)
// does that at one blow.
func (v cgroupV2) hasten(name string) {
	_ = setCgroup("max", v.root, name, "cpu.max")
	_ = setCgroup("1", v.root, name, "cgroup.kill")
}

func (v cgroupV2) account(name string) account {
	return account{cpu: filepath.Join(v.root, name, "cpu.stat"), peak: filepath.Join(v.root, name, "memory.peak")}
}

// outOfMemory: a group that was killed in at a limit above its own, or at the machine's, has met no limit
// itself.
func (v cgroupV2) outOfMemory(name string) bool {
	events := filepath.Join(v.root, name, "memory.events")
	return counter(events, "oom_kill") > 0 && counter(events, "oom") > 0
}

// counter reads a number that a file has in a line after a key, or alone; zero if it has not.
func counter(file, key string) int64 {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if key == "" && len(fields) == 1 || len(fields) == 2 && fields[0] == key {
			return number([]byte(fields[len(fields)-1]))
		}
	}
	return 0
}
