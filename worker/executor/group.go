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

// program is what a group begins with.
type program struct {
	path string
	args []string
	dir  string   // where it works
	env  []string // what it gets beyond the least
	mark string   // the one of env that no other group has
	room *cgroup  // where it is to run; nil: where this process does
}

// group is a program in a session and process group of its own, so that it can be killed together with
// whatever it has started.
type group struct {
	pid    int // of the program, and the number of the group
	mark   string
	room   *cgroup
	output tail
	done   chan struct{} // closed when the program and all of its group are gone

	mu   sync.Mutex
	gone bool // the number may belong to somebody else by now

	// Valid once done is closed:
	status syscall.WaitStatus
	cpu    time.Duration // of every process of the group
}

// startGroup starts a program that needs nothing but its arguments.
func startGroup(path string, args []string) (*group, error) {
	return (&program{path: path, args: args, dir: os.TempDir()}).start()
}

// start starts a program. No shell is involved. Should this process die, the program is killed. A group
// beside an error says that the program had begun, and is gone again.
func (p *program) start() (*group, error) {
	g := &group{mark: p.mark, room: p.room, done: make(chan struct{})}
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, p.env...)
	cmd.Stdout, cmd.Stderr = &g.output, &g.output
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
func (g *group) supervise(cmd *exec.Cmd, started chan<- error) {
	err := adopt()
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

func (g *group) begin(cmd *exec.Cmd) error {
	fork := func() error { return household.start(g, cmd) }
	if g.room == nil {
		return fork()
	}
	return g.room.version.start(g.room, cmd, fork)
}

// finish waits for the end of the program and ends what it has left behind.
func (g *group) finish(cmd *exec.Cmd) {
	defer close(g.done)
	// The program stays a zombie until it is waited for, which keeps the group's number its own while
	// the rest of the group is killed.
	for unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	g.mu.Lock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // fails when nobody is left
	g.gone = true
	g.mu.Unlock()
	if g.room != nil {
		g.room.kill()
	}
	g.cpu = household.collect(g)
	_ = cmd.Wait() // says what ProcessState says
	g.status = cmd.ProcessState.Sys().(syscall.WaitStatus)
	g.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + reapOrphans(g.pid)
	household.forget(g)
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
