package experiment

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Machine describes this one, as far as it tells.
func Machine() string {
	text := fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return text // not Linux
	}
	for line := range strings.SplitSeq(string(cpus), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value) + ", " + text
		}
	}
	return text
}

// ProcessorTime is what this process has used of all cores.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
