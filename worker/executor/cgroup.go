package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where control groups are mounted.
const cgroupRoot = "/sys/fs/cgroup"

// cgroupHome is the group that holds those of all workers of the machine. It is never removed: whoever
// runs the machine may have set limits for all of them there.
const cgroupHome = "dodoor"

// limits are what the processes of a task may take together.
type limits struct {
	millicores int64
	memory     int64 // bytes; there is no swap
}

// cgroupVersion is a version of the kernel's interface to control groups. Groups are named by their path
// below the roots.
type cgroupVersion interface {
	// roots are where groups have their folders: one in each.
	roots() []string
	// delegate lets the groups in a group have limits.
	delegate(name string) error
	// confine sets the limits of an empty group, or what does not have to wait for start.
	confine(g *cgroup) error
	// start has a program begin inside a group: fork starts cmd, on this thread.
	start(g *cgroup, cmd *exec.Cmd, fork func() error) error
	// hasten does what helps the processes of a group to die.
	hasten(name string)
	account(name string) account
	// outOfMemory reports whether the kernel killed a process at the group's memory limit.
	outOfMemory(name string) bool
}

var errNoCgroups = errors.New("there are no control groups for both CPU time and memory at")

// findCgroups looks which version is mounted.
func findCgroups(root string) (cgroupVersion, error) {
	for _, find := range []func(root string) (cgroupVersion, bool){findCgroupV2, findCgroupV1} {
		if found, ok := find(root); ok {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%w %s", errNoCgroups, root)
}

// cgroups makes the control groups of one worker process: dodoor/<worker>.<pid>.<start>/<task>.
type cgroups struct {
	version cgroupVersion
	home    string
	made    atomic.Int64
}

// newCgroups fails when this process cannot make control groups, or cannot start programs in them.
func newCgroups(v cgroupVersion, owner string) (*cgroups, error) {
	c := &cgroups{version: v, home: path.Join(cgroupHome, owner)}
	for _, name := range []string{".", cgroupHome, c.home} {
		err := makeFolders(v, name)
		if err == nil {
			err = v.delegate(name)
		}
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if err := c.try(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// try starts a program that does not exist: all goes well up to that.
func (c *cgroups) try() error {
	room, err := c.create("try", limits{leastMillicores, leastMemory << 20})
	if err != nil {
		return err
	}
	const missing = "/proc/self/missing"
	_, err = (&program{path: missing, dir: "/", room: room}).start()
	if fork := new(fs.PathError); errors.As(err, &fork) && fork.Path == missing && errors.Is(fork, fs.ErrNotExist) {
		err = nil
	} else {
		err = fmt.Errorf("start a program in control group %s: %w", room.name, err)
	}
	return errors.Join(err, room.remove())
}

// create makes an empty group for a task.
func (c *cgroups) create(task string, l limits) (*cgroup, error) {
	label := url.PathEscape(task)
	label = label[:min(len(label), 100)] // the number is what makes it unique
	g := &cgroup{version: c.version, name: path.Join(c.home, fmt.Sprintf("%d-%s", c.made.Add(1), label)), limits: l}
	err := makeFolders(c.version, g.name)
	if err == nil {
		err = c.version.confine(g)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control group: %w", err), g.remove())
	}
	return g, nil
}

// close removes everything, together with what is still in there.
func (c *cgroups) close() error {
	g := &cgroup{version: c.version, name: c.home}
	g.kill()
	return g.remove()
}

// makeFolders makes a group, which may be there already.
func makeFolders(v cgroupVersion, name string) error {
	for _, root := range v.roots() {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// setCgroup writes a value into a file of a group. The kernel made the file, or it is not there.
func setCgroup(value string, elements ...string) error {
	f, err := os.OpenFile(filepath.Join(elements...), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
