package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// groupsOf counts the control groups of tasks that an executor has.
func groupsOf(t *testing.T, p *Executor) int {
	t.Helper()
	version, err := cgroup.Find(cgroup.Root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(version.Roots()[0], cgroup.Parent, p.rule.Owner, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A group serves tasks of the same demand one after another: each has its own account and all of its limits. One that has
// met a limit goes, and so does every one of tasks that could change theirs.
func TestGroupsServeAgain(t *testing.T) {
	p := newProcess(t, required)
	asNobody(t, p)
	if version, err := cgroup.Find(cgroup.Root); err != nil || !version.Renewable() {
		t.Skip("under version 2 every task has a group of its own")
	}
	run := func(steps ...string) worker.Result { return p.Run(t.Context(), p.task(0.5, 64, steps...)) }
	heavy := run("grow=40", "burn=300ms")
	executortest.Finished(t, heavy)
	if heavy.PeakMemory < 40 || heavy.CPU < 300*time.Millisecond || groupsOf(t, p) != 1 {
		t.Errorf("%+v, %d groups", heavy, groupsOf(t, p))
	}
	light := run("print=x")
	executortest.Finished(t, light)
	if light.PeakMemory >= 40 || light.CPU >= 300*time.Millisecond || groupsOf(t, p) != 1 {
		t.Errorf("it has the account of another: %+v, %d groups", light, groupsOf(t, p))
	}
	stopped := run("burn=300ms", "throttled")
	if cores, _ := executortest.Throttled(t, stopped); cores != 0.5 {
		t.Errorf("%v cores in a group that serves again", cores)
	}
	if r := run("grow=100"); !r.OutOfMemory {
		t.Errorf("%+v", r)
	}
	if r := run("exit=3"); r.OutOfMemory || r.Outcome != cluster.Failed {
		t.Errorf("killed for what another took: %+v", r)
	}
	p.rule.PidsLimit = 40
	if r := run("fork=100"); !strings.Contains(r.Reason, "process.pids_limit") {
		t.Errorf("%+v", r)
	}
	if r := run("exit=3"); strings.Contains(r.Reason, "process.pids_limit") {
		t.Errorf("refused for what another did: %+v", r)
	}
	if n := groupsOf(t, p); n > 3 { // of either limit, and one that has just met it
		t.Errorf("%d groups", n)
	}
}

// Root's tasks could change the limits of their groups, so none of those serves again.
func TestGroupsOfRootServeOnce(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Real(t, os.ErrPermission)
	}
	p := newProcess(t, required)
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64)))
	if n := groupsOf(t, p); n != 0 {
		t.Errorf("%d groups", n)
	}
}
