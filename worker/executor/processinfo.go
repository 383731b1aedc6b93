package executor

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// processIdentity names a process like no other before or after it: process numbers are used again, but not
// at one time since one boot.
func processIdentity(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("the machine's boot: %w", err)
	}
	started, err := processStart(pid)
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	return fmt.Sprintf("%s/%d/%d", bytes.TrimSpace(boot), pid, started), nil
}

// processLives reports whether a process of this machine still runs.
func processLives(identity string) bool {
	fields := strings.Split(identity, "/")
	if len(fields) != 3 {
		return false
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return false
	}
	now, err := processIdentity(pid)
	return err == nil && now == identity
}

// processStart returns when a process started, in clock ticks since boot. It fails for one that is gone,
// waited for or not.
func processStart(pid int) (ticks int64, err error) {
	fields, err := processStat(pid)
	if err != nil {
		return 0, err
	}
	if statEnded(fields) {
		return 0, fmt.Errorf("it has ended")
	}
	return number(fields[statStart]), nil
}

// kin is what a process says of where it belongs.
type kin struct {
	group, session int
	ended          bool // and not waited for
}

func kinOf(pid int) (kin, error) {
	fields, err := processStat(pid)
	if err != nil {
		return kin{}, err
	}
	return kin{int(number(fields[statGroup])), int(number(fields[statSession])), statEnded(fields)}, nil
}

// marked reports whether a process was started with a variable in its environment.
func marked(pid int, variable string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && variable != "" && slices.Contains(strings.Split(string(text), "\x00"), variable)
}

// What stands where in the line of processStat.
const (
	statState   = 0
	statGroup   = 2
	statSession = 3
	statStart   = 19
)

// processStat returns what the kernel says about a process, from its state on.
func processStat(pid int) ([][]byte, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // its name, in parentheses, may hold anything
	if len(fields) <= statStart {
		return nil, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields, nil
}

// statEnded is true for a process that nobody has waited for yet.
func statEnded(fields [][]byte) bool { return bytes.ContainsAny(fields[statState], "ZX") }
