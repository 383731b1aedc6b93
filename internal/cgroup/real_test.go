package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cgroup"
	"dodoor/internal/needs"
	"dodoor/internal/procgroup"
	"dodoor/worker/executor/executortest"
)

// Version 2 for real, as far as it goes where other hierarchies have the controllers: the kernel makes
// processes inside the group, kills them all, and lets the group be removed.
func TestVersion2TakesPrograms(t *testing.T) {
	root := cgroup.Root
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		root = filepath.Join(cgroup.Root, "unified")
	}
	_, err := os.Stat(filepath.Join(root, "cgroup.procs"))
	needs.Real(t, err)
	group, err := cgroup.Unlimited(cgroup.Version2(root), fmt.Sprintf("dodoor-test-%d", os.Getpid()))
	needs.Real(t, err)
	file := filepath.Join(t.TempDir(), "pids")
	program := procgroup.Program{Path: executortest.Install(t), Args: []string{"spawn=stranger:" + file, "pid=" + file, "sleep=1h"},
		Dir: "/", Cgroup: group}
	g, err := program.Start()
	if err != nil {
		t.Fatal(err, group.Remove())
	}
	defer g.Kill()
	pids := executortest.Noted(t, file, 2)
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil || !strings.Contains(string(text), "0::/"+group.Name()+"\n") {
			t.Errorf("process %d is in %s, %v", pid, text, err)
		}
	}
	if cpu, _ := group.Account().Read(); cpu <= 0 {
		t.Errorf("%v of CPU time", cpu)
	}
	if !group.Kill() {
		t.Error("the group is not empty")
	}
	<-g.Done()
	for _, pid := range pids {
		if executortest.Alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	if code, err := g.Exit(); code != 137 || g.CPU() > time.Minute {
		t.Errorf("%v, %v", err, g.CPU())
	}
	if err := group.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, group.Name())); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
