package procgroup

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

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
	User   *User         // whom it runs as, without a way to become another; nil: this process's
	Input  *os.File      // nil: there is none
	Output io.Writer     // of all the group's processes, written to until Done; nil: it is lost
	Errors io.Writer     // likewise, of standard error apart; nil: it goes to Output
}

// Start starts a program. No shell is involved. Should this process die, the program is killed. A group
// beside an error says that the program had begun, and is gone again.
func (p *Program) Start() (*Group, error) {
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	g := &Group{mark: p.Mark, cgroup: p.Cgroup, pidfd: -1, done: make(chan struct{}), starter: starters[p.User != nil].enter()}
	err := p.begin(g)
	switch {
	case g.pid == 0:
		g.starter.leave()
		return nil, err
	case err != nil:
		g.signal(syscall.SIGKILL)
		g.finish()
	default:
		go g.finish()
	}
	return g, err
}

// least is the environment of every program.
var least = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}

// begin starts the program of a group, which has a number then even if there is an error.
func (p *Program) begin(g *Group) error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	defer unix.Close(null)
	files, err := g.open(p, null)
	if err == nil {
		err = g.fork(p, files)
	}
	for _, o := range g.outputs {
		o.begin(g.pid != 0)
	}
	return err
}

// open returns what the program finds open.
func (g *Group) open(p *Program, null int) (files []uintptr, err error) {
	out, err := newOutput(p.Output, null, p.User)
	if err != nil {
		return nil, err
	}
	errs := out
	g.outputs = append(g.outputs, out)
	if p.Errors != nil {
		if errs, err = newOutput(p.Errors, null, p.User); err != nil {
			return nil, err
		}
		g.outputs = append(g.outputs, errs)
	}
	in := uintptr(null)
	if p.Input != nil {
		in = p.Input.Fd()
	}
	return []uintptr{in, out.fd, errs.fd}, nil
}

// fork makes the program, on a thread for that.
func (g *Group) fork(p *Program, files []uintptr) error {
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: lastOfEach(slices.Concat(least, p.Env)), Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &g.pidfd, Credential: p.User.credential()}}
	fork := func() error { return running.start(g, p, attr) }
	err := g.starter.do(func() error {
		if g.cgroup == nil {
			return fork()
		}
		return g.cgroup.Start(attr.Sys, fork)
	})
	if err != nil && g.cgroup != nil {
		g.starter.retire() // it may have stayed in there
	}
	return err
}

// lastOfEach leaves the last of several settings of a variable.
func lastOfEach(env []string) (kept []string) {
	seen := make(map[string]bool, len(env))
	for _, setting := range slices.Backward(env) {
		name, _, _ := strings.Cut(setting, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, setting)
		}
	}
	slices.Reverse(kept)
	return kept
}
