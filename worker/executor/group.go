package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a program in a process group of its own, so that it can be killed together with whatever
// it has started.
type group struct {
	pid    int // of the program, and the number of the group
	output tail
	done   chan struct{} // closed when the program and all of its group are gone

	mu   sync.Mutex
	gone bool // the number may belong to somebody else by now

	// Valid once done is closed:
	status syscall.WaitStatus
	cpu    time.Duration // of every process of the group
}

// startGroup starts a program. No shell is involved. Should this process die, the program is killed.
func startGroup(path string, args []string) (*group, error) {
	g := &group{done: make(chan struct{})}
	cmd := exec.Command(path, args...)
	cmd.Dir = os.TempDir()
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	cmd.Stdout, cmd.Stderr = &g.output, &g.output
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go g.supervise(cmd, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return g, nil
}

// supervise starts the program and stays until it is gone. The parent of the kernel's Pdeathsig is a
// thread, so that thread must not end or serve others before the program does.
func (g *group) supervise(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := adopt()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		started <- err
		return
	}
	g.pid = cmd.Process.Pid
	started <- nil
	defer close(g.done)
	// The program stays a zombie until it is waited for, which keeps the group's number its own while
	// the rest of the group is killed.
	for unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	g.mu.Lock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // fails when nobody is left
	g.gone = true
	g.mu.Unlock()
	_ = cmd.Wait() // says what ProcessState says
	g.status = cmd.ProcessState.Sys().(syscall.WaitStatus)
	g.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + reapOrphans(g.pid)
}

// adopt makes orphaned descendants children of this process, wherever it runs, instead of the
// system's first process, which in a container may wait for nobody.
var adopt = sync.OnceValue(func() error {
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
func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.pid, s) // the unreaped program is there to receive it
	}
}

// signalMember sends a signal to one member, if it still is one.
func (g *group) signalMember(pid int, s syscall.Signal) {
	if of, err := syscall.Getpgid(pid); err == nil && of == g.pid {
		_ = syscall.Kill(pid, s) // fails when the member has just ended
	}
}

// ended reports whether the program and its group are gone.
func (g *group) ended() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// failure describes an exit that should not have been: its status and the end of what was printed.
// The exit code of a program that a signal ended is 128 plus the signal's number, as a shell has it.
func (g *group) failure() (exitCode int, err error) {
	if g.status.Signaled() {
		exitCode = 128 + int(g.status.Signal())
		err = fmt.Errorf("killed by signal %d (%v)", int(g.status.Signal()), g.status.Signal())
	} else {
		exitCode = g.status.ExitStatus()
		err = fmt.Errorf("exit status %d", exitCode)
	}
	if text := g.output.String(); text != "" {
		err = errors.Join(err, errors.New(text))
	}
	return exitCode, err
}
