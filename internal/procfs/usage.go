package procfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Usage follows a running program and its descendants, from /proc and the processes' own CPU clocks.
// The kernel's account at the end (wait4) is exact for CPU time, but comes too late to keep a balance,
// and its peak memory is that of the largest single process alone.
type Usage struct {
	root int
	cpu  map[int]time.Duration // of every process ever seen, when it was seen last
	peak int64
}

// NewUsage follows a process of this machine.
func NewUsage(root int) *Usage { return &Usage{root: root, cpu: map[int]time.Duration{}} }

// Sample looks at every process once, and returns which there are.
func (u *Usage) Sample() (pids []int) {
	memory := u.visit(u.root, &pids)
	u.peak = max(u.peak, memory)
	return pids
}

// visit samples a process and its children and returns the memory that they hold. One that ends
// meanwhile keeps its last figures.
func (u *Usage) visit(pid int, pids *[]int) (memory int64) {
	*pids = append(*pids, pid)
	if cpu, err := CPUTime(pid); err == nil {
		u.cpu[pid] = max(u.cpu[pid], cpu)
	}
	memory = Anonymous(pid)
	below, _ := Children(pid) // none, if it has just ended
	for _, child := range below {
		memory += u.visit(child, pids)
	}
	return memory
}

// CPU is the time of all processes that were seen.
func (u *Usage) CPU() (sum time.Duration) {
	for _, cpu := range u.cpu {
		sum += cpu
	}
	return sum
}

// Peak is the most memory that all of them were seen to hold at one time, in bytes.
func (u *Usage) Peak() int64 { return u.peak }

// CPUTime reads the CPU clock of a process, all of its threads included.
func CPUTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel's clock ids: nanoseconds on a CPU
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

var pageSize = int64(os.Getpagesize())

// Anonymous returns the memory of a process that is resident and not backed by a file, in bytes.
func Anonymous(pid int) int64 {
	text, err := ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text) // size, resident, shared, ...
	if len(fields) < 3 {
		return 0
	}
	return (Number(fields[1]) - Number(fields[2])) * pageSize
}

// Name is what a process calls itself; empty when it is gone.
func Name(pid int) string {
	text, err := ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// Children lists the children of a process, whichever of its threads has started them.
func Children(pid int) (pids []int, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		below, _ := ChildrenOfThread(pid, int(Number([]byte(entry.Name())))) // none, if it has just ended
		pids = append(pids, below...)
	}
	return pids, nil
}

// ChildrenOfThread lists the children that one thread of a process has started, or was given.
func ChildrenOfThread(pid, thread int) (pids []int, err error) {
	text, err := ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, thread))
	for _, field := range bytes.Fields(text) {
		pids = append(pids, int(Number(field)))
	}
	return pids, err
}

// Number parses what the kernel wrote; what is no number counts as zero.
func Number(digits []byte) int64 {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
