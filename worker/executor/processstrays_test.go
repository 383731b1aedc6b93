package executor

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// However processes leave the task's group, they do not outlive it, and the folder goes after them.
func TestNobodyEscapes(t *testing.T) {
	for _, mode := range []string{cgroupOff, cgroupRequired} {
		for _, how := range []string{"plain", "group", "session", "daemon", "stranger"} {
			for _, end := range []string{"finished", "failed", "cancelled", "timed-out"} {
				t.Run(fmt.Sprintf("%s/%s/%s", mode, how, end), func(t *testing.T) {
					escape(t, newProcess(t, mode), how, end)
				})
			}
		}
	}
}

func escape(t *testing.T, p *Process, how, end string) {
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if end == "timed-out" {
		ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
	}
	last := map[string]string{"finished": "exit=0", "failed": "exit=1"}[end]
	if last == "" {
		last = "sleep=1h"
	}
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn="+how+":"+file, "sleep=50ms", last)) })
	pids := noted(t, file, 1)
	if end == "cancelled" {
		if !alive(pids[0]) {
			t.Error("the process has ended by itself")
		}
		cancel()
	}
	r := ended()
	if r.Outcome.String() != end {
		t.Errorf("%+v", r)
	}
	if alive(pids[0]) {
		t.Errorf("process %d lives on", pids[0])
	}
}

// Daemons that end by themselves are waited for, although nobody knows them any more.
func TestBriefDaemons(t *testing.T) {
	p := newProcess(t, cgroupOff)
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn=brief:"+file, "sleep=1h")) })
	daemon := noted(t, file, 1)[0]
	eventually(t, "the daemon has ended", func() bool { return !alive(daemon) })
	finished(t, p.Run(t.Context(), p.task(1, 64)))
	if left := descendants(); len(left) != 1 {
		t.Errorf("%v: want the neighbour alone", left)
	}
	cancel()
	neighbour()
}

// The end of a task is not the end of what others have started.
func TestNeighboursKeepTheirDaemons(t *testing.T) {
	for _, mode := range []string{cgroupOff, cgroupRequired} {
		for _, how := range []string{"plain", "group", "session", "daemon", "stranger"} {
			t.Run(mode+"/"+how, func(t *testing.T) {
				p := newProcess(t, mode)
				files := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				mine, theirs := filepath.Join(files, "mine"), filepath.Join(files, "theirs")
				neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn="+how+":"+theirs, "sleep=1h")) })
				kept := noted(t, theirs, 1)[0]
				r := p.Run(t.Context(), p.task(1, 64, "spawn="+how+":"+mine, "sleep=50ms"))
				finished(t, r)
				if !alive(kept) {
					t.Error("the neighbour's process was killed")
				}
				// Without a control group, nothing tells whose a stranger is as long as others run.
				if left := noted(t, mine, 1)[0]; alive(left) && (mode != cgroupOff || how != "stranger") {
					t.Errorf("process %d lives on", left)
				}
				cancel()
				if r := neighbour(); r.Outcome != cluster.Cancelled {
					t.Errorf("%+v", r)
				}
				if alive(kept) {
					t.Errorf("process %d of the neighbour lives on", kept)
				}
			})
		}
	}
}
