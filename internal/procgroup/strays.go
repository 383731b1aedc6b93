package procgroup

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"dodoor/internal/procfs"
)

// running is the groups of this process. The kernel hands it the orphans of all of them alike, so it
// takes a list to tell whose they are.
var running = &table{groups: map[int]*Group{}}

type table struct {
	mu     sync.Mutex
	groups map[int]*Group // by their number
}

// start starts the program of a group. Nobody looks at this process's children meanwhile: one that is
// not listed yet would pass for an orphan.
func (r *table) start(g *Group, cmd *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	r.groups[g.pid] = g
	return nil
}

func (r *table) forget(g *Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, g.pid)
}

// reapStrays kills and waits for what a dead program has left behind, in its group or outside, and returns
// the CPU time of that. Children of strays are strays themselves, once their parents are gone.
func (r *table) reapStrays(g *Group) (cpu time.Duration) {
	for {
		strays := r.killStrays(g)
		if len(strays) == 0 {
			return cpu
		}
		for _, pid := range strays {
			var usage syscall.Rusage
			for {
				_, err := syscall.Wait4(pid, nil, 0, &usage)
				if err != syscall.EINTR {
					break
				}
			}
			cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
}

// killStrays kills the strays of a group that are children of this process by now, and returns them. Those
// that nobody can be told to have left are killed with the last group that runs. Orphans that have
// ended by themselves are waited for on the way.
func (r *table) killStrays(g *Group) (strays []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, _ := procfs.Children(os.Getpid())
	for _, pid := range all {
		p, err := procfs.MembershipOf(pid)
		if err != nil || r.groups[pid] != nil || r.belongs(p, g) {
			continue
		}
		switch {
		case p.Group == g.pid, p.Session == g.pid, procfs.Marked(pid, g.mark), len(r.groups) == 1:
			_ = syscall.Kill(pid, syscall.SIGKILL) // a child that nobody has waited for: it is there
			strays = append(strays, pid)
		case p.Ended:
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
	return strays
}

// belongs reports whether a child is no stray of g by its group or session: this process's own, where
// the programs that others start here run, or those of another group.
func (r *table) belongs(p procfs.Membership, g *Group) bool {
	if p.Group == syscall.Getpgrp() {
		return true
	}
	for _, number := range []int{p.Group, p.Session} {
		if other := r.groups[number]; other != nil && other != g {
			return true
		}
	}
	return false
}
