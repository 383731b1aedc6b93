package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// alive reports whether a process exists and is more than a zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest != "" && rest[0] != 'Z'
}

// descendants lists the processes that this one has started, and those that they have.
func descendants() (all []int) {
	threads, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(field)
			all = append(all, family(pid)...)
		}
	}
	return all
}

func family(pid int) []int {
	all := []int{pid}
	below, _ := children(pid)
	for _, child := range below {
		all = append(all, family(child)...)
	}
	return all
}

// watch follows this process's descendants until the returned function is called, which says for how
// long they were ready to run without a CPU.
func watch(t *testing.T) (waited func() time.Duration) {
	quit, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		delays := map[int]int64{}
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				for _, pid := range descendants() {
					var ran, waited int64
					text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
					if n, _ := fmt.Sscan(string(text), &ran, &waited); n == 2 {
						delays[pid] = waited
					}
				}
			case <-quit:
				sum := int64(0)
				for _, d := range delays {
					sum += d
				}
				result <- time.Duration(sum)
				return
			}
		}
	}()
	return func() time.Duration {
		close(quit)
		return <-result
	}
}

func startShell(t *testing.T, script string) *group {
	t.Helper()
	g, err := startGroup("/bin/sh", []string{"-c", script})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.signal(syscall.SIGKILL)
		<-g.done
	})
	return g
}

// Children of children die with the group, even those that ignore every polite signal.
func TestKillReachesTheWholeGroup(t *testing.T) {
	g := startShell(t, "trap '' TERM ALRM INT; sh -c 'sleep 1000 & sleep 1000 & wait' & sleep 1000 & wait")
	var pids []int
	eventually(t, "everybody runs", func() bool {
		pids = family(g.pid)
		return len(pids) == 5
	})
	g.signal(syscall.SIGKILL)
	<-g.done
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d of group %d lives on", pid, g.pid)
		}
	}
}

// A program that ends and leaves children behind takes them along.
func TestLeftBehindChildrenAreKilled(t *testing.T) {
	g := startShell(t, "sleep 1000 & echo $!; kill -STOP $$")
	eventually(t, "the child runs", func() bool { return len(family(g.pid)) == 2 })
	child := family(g.pid)[1]
	syscall.Kill(g.pid, syscall.SIGKILL) // the program alone
	<-g.done
	if alive(child) {
		t.Errorf("child %d lives on", child)
	}
	if code, err := g.failure(); code != 137 || err == nil {
		t.Errorf("status %d, %v", code, err)
	}
}

func TestSignalsReachMembersOnly(t *testing.T) {
	g, other := startShell(t, "sleep 1000 & wait"), startShell(t, "sleep 1000 & wait")
	g.signalMember(other.pid, syscall.SIGKILL)
	g.signal(syscall.SIGKILL)
	<-g.done
	g.signal(syscall.SIGKILL) // nobody is left: nothing happens
	if !alive(other.pid) {
		t.Error("a stranger was killed")
	}
}

func TestUsageSeesTheTree(t *testing.T) {
	g := startShell(t, "sh -c 'while :; do :; done' & wait")
	u := newUsage(g.pid)
	eventually(t, "50 ms of CPU time", func() bool {
		u.sample()
		return u.total() > 50*time.Millisecond
	})
	if u.peak < 50<<10 || u.peak > 50<<20 {
		t.Errorf("two shells hold %d bytes", u.peak)
	}
	seen := u.total()
	g.signal(syscall.SIGKILL)
	<-g.done
	u.sample()
	if u.total() < seen {
		t.Errorf("%v after the end, %v before", u.total(), seen)
	}
}
