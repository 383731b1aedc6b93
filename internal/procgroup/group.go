// Package procgroup runs a program in a process group of its own, and sees to it that nothing of the group
// outlives it, whichever way a process has left. It runs on Linux.
package procgroup

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/cgroup"
)

// Group is a program in a session and process group of its own, so that it can be killed together with
// whatever it has started.
type Group struct {
	pid     int // of the program, and the number of the group
	mark    string
	pidfd   int // of the program; negative where the kernel has none
	cgroup  *cgroup.Group
	starter *starter
	outputs []*output
	done    chan struct{} // closed when the program and all of its group are gone

	mu   sync.Mutex
	gone bool // the number may belong to somebody else by now

	// Valid once done is closed:
	status   unix.WaitStatus
	cpu      time.Duration // of every process of the group
	peak     int64         // bytes
	vanished bool
}

// finish waits for the end of the program and ends what it has left behind.
func (g *Group) finish() {
	defer close(g.done)
	// The program stays a zombie until it is waited for, which keeps the group's number its own while
	// the rest of the group is killed.
	awaitEnd(g.pid, g.pidfd)
	g.mu.Lock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // fails when nobody is left
	g.gone = true
	g.mu.Unlock()
	if g.cgroup != nil {
		g.cgroup.Kill()
	}
	g.cpu, g.vanished = running.reapStrays(g)
	var usage unix.Rusage
	g.status, usage = reap(g.pid)
	g.cpu += timeOf(&usage) + reapOrphans(g.pid)
	g.peak = ownPeak(usage.Maxrss)
	running.forget(g)
	g.starter.leave()
	for _, o := range g.outputs {
		o.finish()
	}
}

// becomeSubreaper makes orphaned descendants children of this process, wherever it runs, instead of the
// system's first process, which in a container may wait for nobody.
var becomeSubreaper = sync.OnceValue(func() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

// reapOrphans waits for the members of a killed group whose parents died first, so that what they
// held is free when a task has ended. It returns their CPU time.
func reapOrphans(pgid int) (cpu time.Duration) {
	for {
		var usage unix.Rusage
		_, err := unix.Wait4(-pgid, nil, 0, &usage)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return cpu
		default:
			cpu += timeOf(&usage)
		}
	}
}

// signal sends a signal to the whole group; nothing happens when it is gone.
func (g *Group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.pid, s) // the unreaped program is there to receive it
	}
}

// SignalMember sends a signal to one member, if it still is one.
func (g *Group) SignalMember(pid int, s syscall.Signal) {
	if of, err := syscall.Getpgid(pid); err == nil && of == g.pid {
		_ = syscall.Kill(pid, s) // fails when the member has just ended
	}
}

// Kill ends the group, and whatever is in its control group.
func (g *Group) Kill() {
	g.signal(syscall.SIGKILL)
	if g.cgroup != nil {
		g.cgroup.Kill()
	}
}

// PID is the number of the program, and of its group.
func (g *Group) PID() int { return g.pid }

// Done is closed when the program and all of its group are gone.
func (g *Group) Done() <-chan struct{} { return g.done }

// CPU is the time of every process of the group, once it is gone.
func (g *Group) CPU() time.Duration { return g.cpu }

// Peak is the most memory that one process of the group held, in bytes, once the group is gone. It is zero where
// the kernel does not say: of a program that held about as much as this process, or less.
func (g *Group) Peak() int64 { return g.peak }

// Vanished reports, once the group is gone, that nothing the program started can be left anywhere. It is false as well
// while other groups have orphans: one of them may be a stranger of this group.
func (g *Group) Vanished() bool { return g.vanished }

// Exit is the exit code of the program once the group is gone, and describes an end that should not have
// been. The code of a program that a signal ended is 128 plus the signal's number, as a shell has it.
func (g *Group) Exit() (code int, err error) {
	if g.status.Signaled() {
		return 128 + int(g.status.Signal()), fmt.Errorf("killed by signal %d (%v)", int(g.status.Signal()), g.status.Signal())
	}
	return g.status.ExitStatus(), fmt.Errorf("exit status %d", g.status.ExitStatus())
}
