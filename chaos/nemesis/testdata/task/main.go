// Command task is what the tasks of a run do: it notes in a ledger when it begins, takes some time, notes that it
// lives meanwhile, and when it ends.
//
//	task LEDGER MILLISECONDS EXIT
//
// The ledger is a folder outside of the cluster, with a file for each worker.
package main

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	ledger := filepath.Join(os.Args[1], os.Getenv("DODOOR_NODE"))
	takes, _ := strconv.Atoi(os.Args[2])
	code, _ := strconv.Atoi(os.Args[3])
	process, _ := os.ReadFile(ledger + ".process") // which one of this name's
	file, err := os.OpenFile(ledger+".ledger", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		os.Exit(99)
	}
	about := " " + os.Getenv("DODOOR_TASK_ID") + " " + string(process) + " " + strconv.Itoa(os.Getpid()) + " "
	note := func(what, more string) {
		if _, err := file.WriteString(what + about + strconv.FormatInt(now(), 10) + more + "\n"); err != nil {
			os.Exit(99)
		}
	}
	note("start", "")
	for end := time.Now().Add(time.Duration(takes) * time.Millisecond); ; note("lives", "") {
		left := time.Until(end)
		time.Sleep(min(left, 50*time.Millisecond))
		if left <= 50*time.Millisecond {
			break
		}
	}
	note("end", " "+strconv.Itoa(code))
	os.Exit(code)
}

// now is a clock that all containers share and that nobody sets, in nanoseconds.
func now() int64 {
	const monotonic = 1
	var t syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
