// Package cgroup makes control groups, of version 1 or 2: they hold the processes of a task together, to its
// demand, and the kernel keeps an account of what they took. It runs on Linux.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// Root is where control groups are mounted.
const Root = "/sys/fs/cgroup"

// Parent is the group that holds those of all workers of the machine. It is never removed: whoever
// runs the machine may have set limits for all of them there.
const Parent = "dodoor"

// Limits are what the processes of a task may take together.
type Limits struct {
	Millicores int64
	Memory     int64 // bytes; there is no swap
	Processes  int64 // and threads, where the kernel counts them; 0: no limit
}

// processes is how the kernel writes that limit, under both versions.
func (l Limits) processes() string {
	if l.Processes == 0 {
		return "max"
	}
	return strconv.FormatInt(l.Processes, 10)
}

// Version is a version of the kernel's interface to control groups. Groups are named by their path
// below the roots.
type Version interface {
	// Roots are where groups have their folders: one in each.
	Roots() []string
	// Delegate lets the groups in a group have limits.
	Delegate(name string) error
	// Confine sets the limits of an empty group, or what does not have to wait for Start.
	Confine(g *Group) error
	// Start has a program begin inside a group: fork starts it with these attributes, on this thread.
	Start(g *Group, attr *syscall.SysProcAttr, fork func() error) error
	// Renewable reports whether groups can serve again at all.
	Renewable() bool
	// Renew makes an empty group as it was before its task, its account included, and reports whether that can be done.
	Renew(g *Group) bool
	// BeginKill lets the processes of a group get the time to die, and kills them where the kernel does that
	// at one blow.
	BeginKill(name string)
	// Account is where the kernel notes what a group took.
	Account(name string) Account
	// OutOfMemory reports whether the kernel killed a process at the group's memory limit.
	OutOfMemory(name string) bool
	// OutOfProcesses reports whether the kernel refused a process at the group's limit.
	OutOfProcesses(name string) bool
}

var errNone = errors.New("there are no control groups for both CPU time and memory at")

// Find looks which version is mounted, and says why this process cannot make groups there. It changes nothing.
func Find(root string) (Version, error) { return find(here(root)) }

func find(p place) (Version, error) {
	second, mounted, err := findVersion2(p)
	if mounted && err == nil {
		return second, nil
	}
	if first, found := findVersion1(p.mount); found {
		return first, nil
	}
	if !mounted {
		err = fmt.Errorf("%w %s", errNone, p.mount)
	}
	return nil, err
}

// Groups makes the control groups of one worker process: dodoor/<worker>.<pid>.<start>/<task>.
type Groups struct {
	version Version
	own     string // the group of this process
	spares  spares
}

// made is how many groups of tasks this process has made: their names, whichever of its Groups they are of.
var made atomic.Int64

// New fails when this process cannot make control groups. The owner is this process, as procfs.OwnerName
// has it.
func New(v Version, owner string) (*Groups, error) {
	c := &Groups{version: v, own: path.Join(Parent, owner)}
	for _, name := range []string{".", Parent, c.own} {
		err := makeFolders(v, name)
		if err == nil {
			err = v.Delegate(name)
		}
		if err != nil {
			return nil, errors.Join(whyNot(v, err), c.Close())
		}
	}
	return c, nil
}

// whyNot adds what to change: version 2 is looked at before anything is made, version 1 is not.
func whyNot(v Version, err error) error {
	_, first := v.(version1)
	switch {
	case first && errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: under version 1, only root may make control groups", err)
	case first && errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w: %s", err, mayWrite)
	}
	return err
}

// Create returns an empty group for a task. It may be called after another one.
func (c *Groups) Create(task string, l Limits) (*Group, error) {
	if g := c.renewed(l); g != nil {
		return g, nil
	}
	label := url.PathEscape(task)
	label = label[:min(len(label), 100)] // the number is what makes it unique
	g := &Group{version: c.version, name: path.Join(c.own, fmt.Sprintf("%d-%s", made.Add(1), label)), limits: l}
	err := makeFolders(c.version, g.name)
	if err == nil {
		err = c.version.Confine(g)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control group: %w", err), g.Remove())
	}
	return g, nil
}

// Close removes everything, together with what is still in there.
func (c *Groups) Close() error {
	g := &Group{version: c.version, name: c.own}
	g.Kill()
	return g.Remove()
}

// makeFolders makes a group, which may be there already.
func makeFolders(v Version, name string) error {
	for _, root := range v.Roots() {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// write writes a value into a file of a group. The kernel made the file, or it is not there.
func write(value string, elements ...string) error {
	path := filepath.Join(elements...)
	fd, err := procfs.Open(path, unix.O_WRONLY|unix.O_TRUNC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return procfs.Write(fd, path, value)
}
