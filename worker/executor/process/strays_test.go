package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/procfs"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// However processes leave the task's group, they do not outlive it, and the folder goes after them.
func TestNobodyEscapes(t *testing.T) {
	for _, mode := range []string{off, required} {
		for _, how := range []string{"plain", "group", "session", "daemon", "stranger"} {
			for _, end := range []string{"finished", "failed", "cancelled", "timed-out"} {
				t.Run(fmt.Sprintf("%s/%s/%s", mode, how, end), func(t *testing.T) {
					escape(t, newProcess(t, mode), how, end)
				})
			}
		}
	}
}

// late is a context whose end is that of the time.
type late struct{ context.Context }

func (l late) Err() error {
	if l.Context.Err() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

func escape(t *testing.T, p *Executor, how, end string) {
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if end == "timed-out" {
		ctx = late{ctx}
	}
	last := map[string]string{"finished": "exit=0", "failed": "exit=1"}[end]
	if last == "" {
		last = "sleep=1h"
	}
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn="+how+":"+file, last)) })
	pids := executortest.Noted(t, file, 1)
	if last == "sleep=1h" {
		if !executortest.Alive(pids[0]) {
			t.Error("the process has ended by itself")
		}
		cancel()
	}
	r := ended()
	if r.Outcome.String() != end {
		t.Errorf("%+v", r)
	}
	if executortest.Alive(pids[0]) {
		t.Errorf("process %d lives on", pids[0])
	}
}

// Daemons that end by themselves are waited for, although executortest.Nobody knows them any more.
func TestBriefDaemons(t *testing.T) {
	p := newProcess(t, off)
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn=brief:"+file, "sleep=1h")) })
	daemon := executortest.Noted(t, file, 1)[0]
	executortest.Eventually(t, "the daemon has ended", func() bool { return endedOrphan(daemon) })
	// One that ends while the kernel lists this process's children may be missing from the list: the next task sees to it.
	executortest.Eventually(t, "the neighbour alone is left", func() bool {
		executortest.Finished(t, p.Run(t.Context(), p.task(1, 64)))
		return len(executortest.Descendants()) == 1
	})
	cancel()
	neighbour()
}

// endedOrphan reports whether a process is for this one to wait for.
func endedOrphan(pid int) bool {
	process, err := procfs.MembershipOf(pid)
	ours, _ := procfs.Children(os.Getpid())
	return err == nil && process.Ended && slices.Contains(ours, pid)
}

// The end of a task is not the end of what others have started.
func TestNeighboursKeepTheirDaemons(t *testing.T) {
	for _, mode := range []string{off, required} {
		for _, how := range []string{"plain", "group", "session", "daemon", "stranger"} {
			t.Run(mode+"/"+how, func(t *testing.T) {
				p := newProcess(t, mode)
				files := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				mine, theirs := filepath.Join(files, "mine"), filepath.Join(files, "theirs")
				neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn="+how+":"+theirs, "sleep=1h")) })
				kept := executortest.Noted(t, theirs, 1)[0]
				r := p.Run(t.Context(), p.task(1, 64, "spawn="+how+":"+mine))
				executortest.Finished(t, r)
				if !executortest.Alive(kept) {
					t.Error("the neighbour's process was killed")
				}
				// Without a control group, nothing tells whose a stranger is as long as others run.
				if left := executortest.Noted(t, mine, 1)[0]; executortest.Alive(left) && (mode != off || how != "stranger") {
					t.Errorf("process %d lives on", left)
				}
				cancel()
				if r := neighbour(); r.Outcome != cluster.Cancelled {
					t.Errorf("%+v", r)
				}
				if executortest.Alive(kept) {
					t.Errorf("process %d of the neighbour lives on", kept)
				}
			})
		}
	}
}

// An orphan in a task's group is the task's, whoever ends first.
func TestOrphansCountForTheirOwnTask(t *testing.T) {
	p := newProcess(t, off)
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "child=spawn=busy:"+file, "sleep=1h")) })
	orphan := executortest.Noted(t, file, 1)[0]
	executortest.Eventually(t, "the orphan has ended", func() bool { return endedOrphan(orphan) })
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64)))
	cancel()
	if r := neighbour(); r.CPU < 200*time.Millisecond {
		t.Errorf("%+v", r)
	}
}

// What others start here is not the executor's to kill, nor to wait for.
func TestOthersChildrenAreLeftAlone(t *testing.T) {
	p := newProcess(t, off)
	file := filepath.Join(t.TempDir(), "pids")
	var others []*exec.Cmd
	for _, steps := range [][]string{{"pid=" + file, "sleep=1h"}, {"pid=" + file, "exit=7"}} {
		cmd := exec.Command(p.cfg.Allow[0], steps...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, cmd)
	}
	executortest.Noted(t, file, 2)
	executortest.Eventually(t, "the second one has ended", func() bool { return !executortest.Alive(others[1].Process.Pid) })
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64)))
	if !executortest.Alive(others[0].Process.Pid) {
		t.Error("the first one was killed")
	}
	others[0].Process.Kill()
	others[0].Wait()
	if err := others[1].Wait(); err == nil || err.Error() != "exit status 7" {
		t.Errorf("the second one: %v", err)
	}
}
