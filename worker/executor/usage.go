package executor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage follows what a program and its descendants use, from /proc and the processes' own CPU
// clocks. The kernel's account at the end (wait4) is exact for CPU, but it lacks descendants that
// were killed, and its peak memory is that of the largest single process alone.
type usage struct {
	root    int
	cpu     map[int]time.Duration // of every process ever seen, when it was seen last
	peak    int64                 // bytes: the most that all of them held at one time
	workers []int                 // processes of the last sample whose name is workerName
}

// workerName is what stress-ng calls the processes that use the CPU.
const workerName = "stress-ng-cpu"

func newUsage(root int) *usage { return &usage{root: root, cpu: map[int]time.Duration{}} }

// sample looks at every process once. Memory is what is resident and not shared with a file or
// another process group's mapping: anonymous pages.
func (u *usage) sample() {
	u.workers = u.workers[:0]
	u.peak = max(u.peak, u.visit(u.root))
}

// visit samples a process and its children and returns the memory that they hold. One that ends
// meanwhile keeps its last figures.
func (u *usage) visit(pid int) (memory int64) {
	if cpu, err := cpuTime(pid); err == nil {
		u.cpu[pid] = max(u.cpu[pid], cpu)
	}
	memory = anonymous(pid)
	if pid != u.root && processName(pid) == workerName {
		u.workers = append(u.workers, pid)
	}
	for _, child := range children(pid) {
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

// anonymous returns the resident memory of a process that no file backs, in bytes.
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

// children lists the children of a process that has one thread, as stress-ng's have.
func children(pid int) (pids []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	for _, field := range bytes.Fields(text) {
		pids = append(pids, int(number(field)))
	}
	return pids
}

// number parses what the kernel wrote.
func number(digits []byte) int64 {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
