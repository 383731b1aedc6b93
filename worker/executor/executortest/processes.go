package executortest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/internal/procfs"
)

// Nobody is a process number that is greater than there can be.
const Nobody = 4194304

// Alive reports whether a process exists and is more than a zombie.
func Alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest != "" && rest[0] != 'Z'
}

// Descendants lists the processes that this one has started, and those that they have.
func Descendants() (all []int) {
	threads, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(field)
			all = append(all, Family(pid)...)
		}
	}
	return all
}

// Family lists a process and its descendants.
func Family(pid int) []int {
	all := []int{pid}
	below, _ := procfs.Children(pid)
	for _, child := range below {
		all = append(all, Family(child)...)
	}
	return all
}

// Eventually polls for something that another process does; the test fails when it never happens.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}
