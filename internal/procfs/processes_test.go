package procfs_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"dodoor/internal/procfs"
	"dodoor/internal/procgroup"
	"dodoor/worker/executor/executortest"
)

func TestIdentity(t *testing.T) {
	self, err := procfs.Identity(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !procfs.Lives(self) {
		t.Error("we live")
	}
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	identity, err := procfs.Identity(sleeper.Process.Pid)
	if err != nil || !procfs.Lives(identity) || identity == self {
		t.Errorf("%s: %v", identity, err)
	}
	sleeper.Process.Kill()
	executortest.Eventually(t, "it is a zombie", func() bool { return !executortest.Alive(sleeper.Process.Pid) })
	if procfs.Lives(identity) {
		t.Error("a process that executortest.Nobody has waited for lives on")
	}
	sleeper.Wait()
	if procfs.Lives(identity) {
		t.Error("a process that is gone lives on")
	}
}

func TestUsageSeesTheTree(t *testing.T) {
	g, err := (&procgroup.Program{Path: "/bin/sh", Args: []string{"-c", "sh -c 'while :; do :; done' & wait"}, Dir: "/"}).Start()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Kill()
	u := procfs.NewUsage(g.PID())
	executortest.Eventually(t, "50 ms of CPU time", func() bool {
		u.Sample()
		return u.CPU() > 50*time.Millisecond
	})
	if u.Peak() < 50<<10 || u.Peak() > 50<<20 {
		t.Errorf("two shells hold %d bytes", u.Peak())
	}
	seen := u.CPU()
	g.Kill()
	<-g.Done()
	u.Sample()
	if u.CPU() < seen {
		t.Errorf("%v after the end, %v before", u.CPU(), seen)
	}
}
