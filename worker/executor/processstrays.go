package executor

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// household is the groups of this process. The kernel hands it the orphans of all of them alike, so it
// takes a list to tell whose they are.
var household = &roster{groups: map[int]*group{}}

type roster struct {
	mu     sync.Mutex
	groups map[int]*group // by their number
}

// start starts the program of a group. Nobody looks at this process's children meanwhile: one that is
// not listed yet would pass for an orphan.
func (r *roster) start(g *group, cmd *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	r.groups[g.pid] = g
	return nil
}

func (r *roster) forget(g *group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, g.pid)
}

// collect kills and waits for what a dead program has left behind, in its group or outside, and returns
// the CPU time of that. Children of strays are strays themselves, once their parents are gone.
func (r *roster) collect(g *group) (cpu time.Duration) {
	for {
		strays := r.condemn(g)
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

// condemn kills the strays of a group that are children of this process by now, and returns them. Those
// that nobody can be told to have left are killed with the last group that runs. Orphans that have
// ended by themselves are waited for on the way.
func (r *roster) condemn(g *group) (strays []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, _ := children(os.Getpid())
	for _, pid := range all {
		p, err := kinOf(pid)
		if err != nil || r.groups[pid] != nil || r.belongs(p, g) {
			continue
		}
		switch {
		case p.group == g.pid, p.session == g.pid, marked(pid, g.mark), len(r.groups) == 1:
			_ = syscall.Kill(pid, syscall.SIGKILL) // a child that nobody has waited for: it is there
			strays = append(strays, pid)
		case p.ended:
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
	return strays
}

// belongs reports whether a child is no stray of g by its group or session: this process's own, where
// the programs that others start here run, or those of another group.
func (r *roster) belongs(p kin, g *group) bool {
	if p.group == syscall.Getpgrp() {
		return true
	}
	for _, number := range []int{p.group, p.session} {
		if other := r.groups[number]; other != nil && other != g {
			return true
		}
	}
	return false
}
