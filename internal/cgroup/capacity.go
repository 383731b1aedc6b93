package cgroup

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"dodoor/internal/procfs"
)

// Capacity is what a process may use of its machine.
type Capacity struct {
	Millicores int64
	Memory     int64 // bytes
}

// Own returns what this process may use: the machine's cores (those that it may run on) and memory, or less where its
// control group or one above it has a limit, of version 1 or 2. root is / but in tests.
func Own(root string, cores int) (Capacity, error) {
	total := counter(filepath.Join(root, "proc/meminfo"), "MemTotal:")
	if total == 0 {
		return Capacity{}, fmt.Errorf("%s does not say how much memory this machine has", filepath.Join(root, "proc/meminfo"))
	}
	own := Capacity{Millicores: int64(cores) * 1000, Memory: total << 10}
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return Capacity{}, fmt.Errorf("which control group is this process in: %w", err)
	}
	for _, controller := range []string{"", "cpu", "memory"} { // "" is version 2
		name, found := groupOf(string(groups), controller)
		if !found {
			continue
		}
		// A container sees its own group as the top of the tree, whatever its name is outside.
		for name = path.Clean("/" + name); ; name = path.Dir(name) {
			own.limit(filepath.Join(root, "sys/fs/cgroup", controller, name))
			if name == "/" {
				break
			}
		}
	}
	return own, nil
}

// limit lowers the capacity to the limits of a group, as far as it has any.
func (c *Capacity) limit(folder string) {
	read := func(file string) []int64 {
		text, _ := os.ReadFile(filepath.Join(folder, file))
		var numbers []int64
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.ParseInt(word, 10, 64); err == nil && n > 0 { // "max" and -1 are no limits
				numbers = append(numbers, n)
			}
		}
		return numbers
	}
	for _, bytes := range append(read("memory.max"), read("memory.limit_in_bytes")...) {
		c.Memory = min(c.Memory, bytes)
	}
	for _, quota := range [][]int64{read("cpu.max"), append(read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")...)} {
		if len(quota) == 2 {
			c.Millicores = min(c.Millicores, max(1, quota[0]*1000/quota[1]))
		}
	}
}

// counter reads a number that a file has in a line after a key, or alone; zero if it has not.
func counter(file, key string) int64 {
	text, _ := procfs.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if key == "" && len(fields) == 1 || len(fields) >= 2 && fields[0] == key {
			return procfs.Number([]byte(fields[min(1, len(fields)-1)]))
		}
	}
	return 0
}
