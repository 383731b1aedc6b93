package executor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usage follows a running stress-ng and its descendants, from /proc and the processes' own CPU clocks.
// The kernel's account at the end (wait4) is exact for CPU time, but comes too late to keep a balance,
// and its peak memory is that of the largest single process alone.
type usage struct {
	root      int
	cpu       map[int]time.Duration // of every process ever seen, when it was seen last
	peak      int64                 // bytes: the most that all of them held at one time
	workers   []int                 // the processes that use the CPU
	stressors []int                 // direct children that were seen to do stress-ng's work
	lost      bool                  // a stressor is gone
}

// What stress-ng calls its processes once they work.
const (
	stressorName = "stress-ng-"
	workerName   = stressorName + "cpu"
)

func newUsage(root int) *usage { return &usage{root: root, cpu: map[int]time.Duration{}} }

// sample looks at every process once.
func (u *usage) sample() {
	u.workers = u.workers[:0]
	u.peak = max(u.peak, u.visit(u.root))
	direct, err := children(u.root)
	if err != nil {
		return
	}
	for _, pid := range u.stressors {
		u.lost = u.lost || !slices.Contains(direct, pid)
	}
	for _, pid := range direct {
		if !slices.Contains(u.stressors, pid) && strings.HasPrefix(processName(pid), stressorName) {
			u.stressors = append(u.stressors, pid)
		}
	}
}

// visit samples a process and its children and returns the memory that they hold. One that ends
// meanwhile keeps its last figures.
func (u *usage) visit(pid int) (memory int64) {
	if cpu, err := cpuTime(pid); err == nil {
		u.cpu[pid] = max(u.cpu[pid], cpu)
	}
	if processName(pid) == workerName {
		u.workers = append(u.workers, pid)
	}
	memory = anonymous(pid)
	below, _ := children(pid) // none, if it has just ended
	for _, child := range below {
		memory += u.visit(child)
	}
	return memory
}

// total is the CPU time of all processes that were seen.
func (u *usage) total() (sum time.Duration) {
	for _, cpu := range u.cpu {
		sum += cpu
	}
	return sum
}

// cpuTime reads the CPU clock of a process, all of its threads included.
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel's clock ids: nanoseconds on a CPU
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

var pageSize = int64(os.Getpagesize())

// anonymous returns the memory of a process that is resident and not backed by a file, in bytes.
func anonymous(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text) // size, resident, shared, ...
	if len(fields) < 3 {
		return 0
	}
	return (number(fields[1]) - number(fields[2])) * pageSize
}

func processName(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// children lists the children of a process, whichever of its threads has started them.
func children(pid int) (pids []int, err error) {
	threads := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(threads)
	if err != nil {
		return nil, err
	}
	for _, thread := range entries {
		text, err := os.ReadFile(filepath.Join(threads, thread.Name(), "children"))
		if err != nil {
			continue // it has just ended
		}
		for _, field := range bytes.Fields(text) {
			pids = append(pids, int(number(field)))
		}
	}
	return pids, nil
}

// number parses what the kernel wrote.
func number(digits []byte) int64 {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
