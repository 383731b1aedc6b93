// Package procgroup runs a program in a process group of its own, and sees to it that nothing of the group
// outlives it, whichever way a process has left. It runs on Linux.
package procgroup

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/cgroup"
)

// Program is what a group begins with.
type Program struct {
	Path   string
	Args   []string
	Dir    string        // where it works
	Env    []string      // what it gets beyond the least; of the same name the last counts
	Mark   string        // the one of Env that no other group has
	Cgroup *cgroup.Group // where it is to run; nil: where this process does
	Input  *os.File      // nil: there is none
	Output io.Writer     // of all the group's processes, written to until Done; nil: it is lost
	Errors io.Writer     // likewise, of standard error apart; nil: it goes to Output
}

// Group is a program in a session and process group of its own, so that it can be killed together with
// whatever it has started.
type Group struct {
	pid    int // of the program, and the number of the group
	mark   string
	cgroup *cgroup.Group
	done   chan struct{} // closed when the program and all of its group are gone

	mu   sync.Mutex
	gone bool // the number may belong to somebody else by now

	// Valid once done is closed:
	status syscall.WaitStatus
	cpu    time.Duration // of every process of the group
}

// Start starts a program. No shell is involved. Should this process die, the program is killed. A group
// beside an error says that the program had begun, and is gone again.
func (p *Program) Start() (*Group, error) {
	g := &Group{mark: p.Mark, cgroup: p.Cgroup, done: make(chan struct{})}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, p.Env...)
	cmd.Stdout, cmd.Stderr = p.Output, p.Output
	if p.Errors != nil {
		cmd.Stderr = p.Errors
	}
	if p.Input != nil {
		cmd.Stdin = p.Input
	}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	onThread(func() { g.supervise(cmd, started) })
	err := <-started
	if err != nil && cmd.Process == nil {
		return nil, err
	}
	return g, err
}

// onThread runs f on a thread that serves nobody else and ends with f, and is not the process's first:
// to the kernel, the first one's control group is that of the process.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f()
			return // Go ends a thread whose goroutine ends without letting go of it
		}
		settled := make(chan struct{})
		onThread(func() {
			close(settled)
			f()
		})
		<-settled
		runtime.UnlockOSThread()
	}()
}

// supervise starts the program and stays until it is gone. The parent of the kernel's Pdeathsig is a
// thread, so that thread must not end before the program does.
func (g *Group) supervise(cmd *exec.Cmd, started chan<- error) {
	err := becomeSubreaper()
	if err == nil {
		err = g.begin(cmd)
	}
	if cmd.Process != nil && err != nil {
		g.signal(syscall.SIGKILL)
		g.finish(cmd)
	}
	started <- err
	if err == nil {
		g.finish(cmd)
	}
}

func (g *Group) begin(cmd *exec.Cmd) error {
	fork := func() error { return running.start(g, cmd) }
	if g.cgroup == nil {
		return fork()
	}
	return g.cgroup.Start(cmd, fork)
}

// finish waits for the end of the program and ends what it has left behind.
func (g *Group) finish(cmd *exec.Cmd) {
	defer close(g.done)
	// The program stays a zombie until it is waited for, which keeps the group's number its own while
	// the rest of the group is killed.
	for unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	g.mu.Lock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // fails when nobody is left
	g.gone = true
	g.mu.Unlock()
	if g.cgroup != nil {
		g.cgroup.Kill()
	}
	g.cpu = running.reapStrays(g)
	_ = cmd.Wait() // says what ProcessState says
	g.status = cmd.ProcessState.Sys().(syscall.WaitStatus)
	g.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + reapOrphans(g.pid)
	running.forget(g)
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
		var usage syscall.Rusage
		_, err := syscall.Wait4(-pgid, nil, 0, &usage)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return cpu
		default:
			cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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

// Exit is the exit code of the program once the group is gone, and describes an end that should not have
// been. The code of a program that a signal ended is 128 plus the signal's number, as a shell has it.
func (g *Group) Exit() (code int, err error) {
	if g.status.Signaled() {
		return 128 + int(g.status.Signal()), fmt.Errorf("killed by signal %d (%v)", int(g.status.Signal()), g.status.Signal())
	}
	return g.status.ExitStatus(), fmt.Errorf("exit status %d", g.status.ExitStatus())
}
