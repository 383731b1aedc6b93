package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dodoor/internal/procfs"
)

// Account is the files in which the kernel keeps what a control group took, under version 1 or 2.
type Account struct {
	cpu  string // nanoseconds (version 1), or a list that has usage_usec
	peak string // bytes
}

var errNoAccount = errors.New("the container has no control group here")

// FindAccount returns the account of a container of this machine. The container's id has to be in the
// group's name: what an engine elsewhere calls process 17 is somebody else here.
func FindAccount(root string, pid int, id string) (Account, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc", fmt.Sprint(pid), "cgroup"))
	if err != nil {
		return Account{}, err
	}
	group := func(controller string) (folder string, found bool) {
		name, found := groupOf(string(text), controller)
		return filepath.Join(root, "sys/fs/cgroup", controller, name), found && id != "" && strings.Contains(name, id)
	}
	for _, k := range []struct{ cpuIn, cpu, memoryIn, peak string }{
		{"cpuacct", "cpuacct.usage", "memory", "memory.max_usage_in_bytes"},
		{"", "cpu.stat", "", "memory.peak"}, // version 2
	} {
		cpu, counts := group(k.cpuIn)
		memory, countsToo := group(k.memoryIn)
		a := Account{filepath.Join(cpu, k.cpu), filepath.Join(memory, k.peak)}
		if counts && countsToo && a.Readable() {
			return a, nil
		}
	}
	return Account{}, errNoAccount
}

// Readable reports whether the kernel keeps the whole account.
func (a Account) Readable() bool {
	_, cpu := procfs.ReadFile(a.cpu)
	_, peak := procfs.ReadFile(a.peak) // version 2 has it since Linux 5.19
	return cpu == nil && peak == nil
}

// Read returns the CPU time and the peak memory, in bytes; zero where the group is gone.
func (a Account) Read() (cpu time.Duration, peak int64) {
	text, _ := procfs.ReadFile(a.cpu)
	if _, rest, found := bytes.Cut(text, []byte("usage_usec ")); found {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		cpu = time.Duration(procfs.Number(line)) * time.Microsecond
	} else {
		cpu = time.Duration(procfs.Number(bytes.TrimSpace(text)))
	}
	text, _ = procfs.ReadFile(a.peak)
	return cpu, procfs.Number(bytes.TrimSpace(text))
}
