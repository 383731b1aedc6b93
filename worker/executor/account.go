package executor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// account is the files in which the kernel keeps what a control group took, under version 1 or 2.
type account struct {
	cpu  string // nanoseconds (version 1), or a list that has usage_usec
	peak string // bytes
}

var errNoAccount = errors.New("the container has no control group here")

// findAccount returns the account of a container of this machine. The container's id has to be in the
// group's name: what an engine elsewhere calls process 17 is somebody else here.
func findAccount(root string, pid int, id string) (account, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc", fmt.Sprint(pid), "cgroup"))
	if err != nil {
		return account{}, err
	}
	groups := filepath.Join(root, "sys/fs/cgroup")
	var unified, v1 account
	for line := range strings.Lines(string(text)) { // number:controllers:path
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if id == "" || !strings.Contains(path, id) {
			continue
		}
		if controllers == "" {
			unified = account{cpu: filepath.Join(groups, path, "cpu.stat"), peak: filepath.Join(groups, path, "memory.peak")}
		}
		for controller := range strings.SplitSeq(controllers, ",") {
			switch controller {
			case "cpuacct":
				v1.cpu = filepath.Join(groups, controller, path, "cpuacct.usage")
			case "memory":
				v1.peak = filepath.Join(groups, controller, path, "memory.max_usage_in_bytes")
			}
		}
	}
	for _, a := range []account{v1, unified} {
		if a.readable() {
			return a, nil
		}
	}
	return account{}, errNoAccount
}

func (a account) readable() bool {
	_, cpu := os.ReadFile(a.cpu)
	_, peak := os.ReadFile(a.peak) // version 2 has it since Linux 5.19
	return cpu == nil && peak == nil
}

// read returns the CPU time and the peak memory, in bytes; zero where the group is gone.
func (a account) read() (cpu time.Duration, peak int64) {
	text, _ := os.ReadFile(a.cpu)
	if _, rest, found := bytes.Cut(text, []byte("usage_usec ")); found {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		cpu = time.Duration(number(line)) * time.Microsecond
	} else {
		cpu = time.Duration(number(bytes.TrimSpace(text)))
	}
	text, _ = os.ReadFile(a.peak)
	return cpu, number(bytes.TrimSpace(text))
}
