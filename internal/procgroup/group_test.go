package procgroup

import (
	"syscall"
	"testing"

	"dodoor/worker/executor/executortest"
)

func startShell(t *testing.T, script string) *Group {
	t.Helper()
	g, err := (&Program{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/"}).Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.signal(syscall.SIGKILL)
		<-g.Done()
	})
	return g
}

// Children of children die with the group, even those that ignore every polite signal.
func TestKillReachesTheWholeGroup(t *testing.T) {
	g := startShell(t, "trap '' TERM ALRM INT; sh -c 'sleep 1000 & sleep 1000 & wait' & sleep 1000 & wait")
	var pids []int
	executortest.Eventually(t, "everybody runs", func() bool {
		pids = executortest.Family(g.pid)
		return len(pids) == 5
	})
	g.signal(syscall.SIGKILL)
	<-g.Done()
	for _, pid := range pids {
		if executortest.Alive(pid) {
			t.Errorf("process %d of group %d lives on", pid, g.pid)
		}
	}
}

// A program that ends and leaves children behind takes them along.
func TestLeftBehindChildrenAreKilled(t *testing.T) {
	g := startShell(t, "sleep 1000 & echo $!; kill -STOP $$")
	executortest.Eventually(t, "the child runs", func() bool { return len(executortest.Family(g.pid)) == 2 })
	child := executortest.Family(g.pid)[1]
	syscall.Kill(g.pid, syscall.SIGKILL) // the program alone
	<-g.Done()
	if executortest.Alive(child) {
		t.Errorf("child %d lives on", child)
	}
	if code, err := g.Exit(); code != 137 || err == nil {
		t.Errorf("status %d, %v", code, err)
	}
}

func TestSignalsReachMembersOnly(t *testing.T) {
	g, other := startShell(t, "sleep 1000 & wait"), startShell(t, "sleep 1000 & wait")
	g.SignalMember(other.pid, syscall.SIGKILL)
	g.signal(syscall.SIGKILL)
	<-g.Done()
	g.signal(syscall.SIGKILL) // executortest.Nobody is left: nothing happens
	if !executortest.Alive(other.pid) {
		t.Error("a stranger was killed")
	}
}
