package procgroup

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// running is the groups of this process. The kernel hands it the orphans of all of them alike, so it
// takes a list to tell whose they are.
var running = &table{groups: map[int]*Group{}, taken: map[int]bool{}}

type table struct {
	scan   sync.Mutex // taken before mu; held while programs start, and while orphans are looked at
	mu     sync.Mutex
	groups map[int]*Group // by their number
	taken  map[int]bool   // the strays that somebody has killed and is about to wait for
}

// start starts the program of a group. Nobody looks at orphans meanwhile: those of a program that is not listed yet
// would pass for nobody's.
func (r *table) start(g *Group, p *Program, attr *syscall.ProcAttr) error {
	r.scan.Lock()
	defer r.scan.Unlock()
	argv := append([]string{p.Path}, p.Args...)
	pid, err := syscall.ForkExec(p.Path, argv, attr)
	if err != nil {
		return &fs.PathError{Op: "fork/exec", Path: p.Path, Err: err}
	}
	g.pid = pid
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups[pid] = g
	return nil
}

func (r *table) forget(g *Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, g.pid)
}

// reapStrays kills and waits for what a dead program has left behind, in its group or outside, and returns
// the CPU time of that, and whether nobody's orphans are left. Children of strays are strays themselves, once their
// parents are gone.
func (r *table) reapStrays(g *Group) (cpu time.Duration, none bool) {
	for {
		if len(orphans()) == 0 {
			return cpu, true // as after most programs: nobody has to wait for anybody
		}
		strays := r.killStrays(g)
		if len(strays) == 0 {
			return cpu, false
		}
		for _, pid := range strays {
			ended(pid, 0)
			cpu += r.reap(pid)
		}
	}
}

// reap waits for a stray that has ended, and returns its CPU time. Nobody looks at orphans meanwhile: its number may
// be another's at once.
func (r *table) reap(pid int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, pid)
	_, usage := reap(pid)
	return timeOf(&usage)
}

// orphans lists the processes whose parents have died, and what others may have started on the same thread: the kernel
// (Linux 3.19 or later) makes orphans children of the first thread that a process has, which Go never ends, and
// groups start on others. What a program has left is there before its end can be told.
func orphans() []int {
	all, _ := procfs.ChildrenOfThread(os.Getpid(), os.Getpid())
	return all
}

// killStrays kills the strays of a group that are children of this process by now, and returns them. Those
// that nobody can be told to have left are killed with the last group that runs. Orphans that have
// ended by themselves are waited for on the way.
func (r *table) killStrays(g *Group) (strays []int) {
	r.scan.Lock()
	defer r.scan.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range orphans() {
		p, err := procfs.MembershipOf(pid)
		if err != nil || r.taken[pid] || r.belongs(p, g) {
			continue
		}
		switch {
		case p.Group == g.pid, p.Session == g.pid, procfs.Marked(pid, g.mark), len(r.groups) == 1:
			_ = syscall.Kill(pid, syscall.SIGKILL) // a child that nobody has waited for: it is there
			r.taken[pid] = true
			strays = append(strays, pid)
		case p.Ended:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
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
