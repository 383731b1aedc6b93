package keeper

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/poll"
	"dodoor/internal/procfs"
)

// How long to wait for what was killed, and how often to look. A process may take a moment to die, one that waits for a disk
// that is gone takes for ever.
const (
	killLimit = 30 * time.Second
	killPoll  = time.Millisecond
)

// killAll kills every descendant of this process until gone says that none is left, and returns how many do not die.
func killAll(gone func() bool) (left int) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // a child's orphans come here, not to somebody above
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	if poll.Until(ctx, killPoll, func() bool { kill(); return gone() }) {
		return 0
	}
	return len(alive())
}

// kill kills the descendants that there are. What forks faster than it is killed is stopped before: a process that does not
// run has no more children.
func kill() {
	stopped := map[int]bool{}
	for grows := true; grows; {
		grows = false
		for _, pid := range alive() {
			if !stopped[pid] {
				stopped[pid], grows = true, true
				_ = syscall.Kill(pid, syscall.SIGSTOP) // or it has ended
			}
		}
	}
	for pid := range stopped {
		_ = syscall.Kill(pid, syscall.SIGKILL) // nobody but this process, or one that was stopped, waits for it: it is no other
	}
}

// reaped waits for all children that have ended, and reports whether there is no other: then there are no descendants either.
func reaped() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != unix.EINTR && pid <= 0 {
			return err == unix.ECHILD
		}
	}
}

// noneAlive is for a process in which others wait for their children.
func noneAlive() bool { return len(alive()) == 0 }

// alive lists the descendants of this process that have not ended.
func alive() (all []int) {
	var visit func(pid int)
	visit = func(pid int) {
		children, _ := procfs.Children(pid) // none, if it has just ended
		for _, child := range children {
			if p, err := procfs.MembershipOf(child); err == nil && !p.Ended {
				all = append(all, child)
			}
			visit(child)
		}
	}
	visit(os.Getpid())
	return all
}
