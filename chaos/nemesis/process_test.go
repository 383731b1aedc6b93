package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program that runs in a host, or on this machine at the address of one.
type process struct {
	name  string
	entry *exec.Cmd // this machine's side of it
	pid   int       // on this machine
	log   *os.File
	ended chan struct{}
	err   error // how it ended, once it has
}

// everything is what a service shares with its host: files, processes, names, the network.
var everything = []string{"-m", "-u", "-i", "-n", "-p"}

// run starts a program in the host. What it prints goes to the end of a file.
func (h *host) run(log string, argv ...string) (*process, error) {
	p, err := launch(h.name, log, nil, append(h.within(everything...), argv...))
	if err != nil {
		return nil, err
	}
	if p.pid, err = child(p.entry.Process.Pid, p.ended); err != nil {
		p.kill()
		return nil, fmt.Errorf("%s: %w, see %s", strings.Join(argv, " "), err, log)
	}
	return p, nil
}

// own starts this program once more, at the host's address, as what a variable says.
func (h *host) own(log, variable, value string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := launch(h.name, log, []string{variable + "=" + value}, append(h.within("-n"), self))
	if err == nil {
		p.pid = p.entry.Process.Pid // nsenter has become it
	}
	return p, err
}

func launch(name, log string, env, argv []string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, entry: exec.Command(argv[0], argv[1:]...), log: file, ended: make(chan struct{})}
	p.entry.Stdout, p.entry.Stderr = file, file
	p.entry.Env = append(os.Environ(), env...)
	// A group of its own: Ctrl-C is for this process, which ends the others; if it is killed, they are, too.
	p.entry.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.entry.Start(); err != nil {
		file.Close()
		return nil, err
	}
	go func() {
		p.err = p.entry.Wait()
		file.Close()
		close(p.ended)
	}()
	return p, nil
}

// child returns the first child of a process, which it is about to have.
func child(parent int, ended <-chan struct{}) (int, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if pid := childOf(parent); pid > 0 {
			return pid, nil
		}
		select {
		case <-ended:
			return 0, errors.New("it ended at once")
		case <-time.After(time.Millisecond):
		}
	}
	return 0, errors.New("it did not begin")
}

// childOf returns a child of a process, whichever of its threads started it; 0: it has none.
func childOf(parent int) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		if pids := strings.Fields(string(children)); len(pids) > 0 {
			if pid, err := strconv.Atoi(pids[0]); err == nil {
				return pid
			}
		}
	}
	return 0
}

// patience is with what takes a moment on an idle machine.
const patience = 20 * time.Second

// signal sends a signal. nsenter stops when its child does, and has to go on with it.
func (p *process) signal(s syscall.Signal) {
	_ = syscall.Kill(p.pid, s)
	if s != syscall.SIGSTOP && p.pid != p.entry.Process.Pid {
		_ = syscall.Kill(p.entry.Process.Pid, syscall.SIGCONT)
	}
}

// kill returns when the process is gone.
func (p *process) kill() {
	if p.pid == 0 {
		p.pid = p.entry.Process.Pid
	}
	for {
		p.signal(syscall.SIGKILL)
		select {
		case <-p.ended:
			return
		case <-time.After(10 * time.Millisecond): // nsenter has stopped itself a moment later
		}
	}
}

// terminate asks the process to end, and kills it when it has not by the end of ctx.
func (p *process) terminate(ctx context.Context) error {
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("%s did not end: %w", p.name, ctx.Err())
	}
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}
