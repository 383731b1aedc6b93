// Package procfs reads what /proc says about the processes of this machine: who they are, whose children,
// what they take. Names of folders say which process of a worker made them, so that leftovers can be told.
package procfs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Identity names a process like no other before or after it: process numbers are used again, but not
// at one time since one boot.
func Identity(pid int) (string, error) {
	boot, err := ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("the machine's boot: %w", err)
	}
	started, err := startOf(pid)
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	return fmt.Sprintf("%s/%d/%d", bytes.TrimSpace(boot), pid, started), nil
}

// Lives reports whether a process of this machine still runs.
func Lives(identity string) bool {
	fields := strings.Split(identity, "/")
	if len(fields) != 3 {
		return false
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return false
	}
	now, err := Identity(pid)
	return err == nil && now == identity
}

// startOf returns when a process started, in clock ticks since boot. It fails for one that is gone,
// waited for or not.
func startOf(pid int) (ticks int64, err error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	if statEnded(fields) {
		return 0, fmt.Errorf("it has ended")
	}
	return Number(fields[statStart]), nil
}

// Membership is the process group and the session of a process, and whose child it is.
type Membership struct {
	Group, Session, Parent int
	Ended                  bool // and not waited for
}

// MembershipOf fails for a process that is gone and was waited for.
func MembershipOf(pid int) (Membership, error) {
	fields, err := stat(pid)
	if err != nil {
		return Membership{}, err
	}
	number := func(field int) int { return int(Number(fields[field])) }
	return Membership{number(statGroup), number(statSession), number(statParent), statEnded(fields)}, nil
}

// Marked reports whether a process was started with a variable in its environment.
func Marked(pid int, variable string) bool {
	text, err := ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && variable != "" && slices.Contains(strings.Split(string(text), "\x00"), variable)
}

// What stands where in the line of stat.
const (
	statState   = 0
	statParent  = 1
	statGroup   = 2
	statSession = 3
	statStart   = 19
)

// stat returns what the kernel says about a process, from its state on.
func stat(pid int) ([][]byte, error) {
	text, err := ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
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
