// Package confine holds tasks that are programs of this machine to their demand, by control groups, where this process may
// make some. It is the one rule for all executors that run such programs. It runs on Linux.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"dodoor/internal/cgroup"
	"dodoor/internal/procfs"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// What Config.Cgroup can be.
const (
	Auto     = "auto"     // limits where this process may set some
	Required = "required" // no work without limits
	Off      = "off"
)

// Config is how tasks are confined.
type Config struct {
	Executor  string          // whose tasks they are, for errors
	Worker    string          // on which worker
	Cgroup    string          // auto, required or off
	PidsLimit int             // processes and threads of a task, where there are control groups
	User      *procgroup.User // whom tasks run as; nil: this process's
}

// Rule is what holds for the tasks of one executor. Check comes before the first of them, Close after the last.
type Rule struct {
	Config
	Root      string // of control groups
	Owner     string // this process, among those of all workers
	Groups    *cgroup.Groups
	unlimited error
	swept     int
}

// New fails when the configuration makes no sense.
func New(cfg Config) (*Rule, error) {
	if !slices.Contains([]string{Auto, Required, Off}, cfg.Cgroup) {
		return nil, fmt.Errorf("executor %s: process.cgroup must be auto, required or off, found %q", cfg.Executor, cfg.Cgroup)
	}
	owner, err := procfs.OwnerName(cfg.Worker)
	if err != nil {
		return nil, fmt.Errorf("executor %s: %w", cfg.Executor, err)
	}
	return &Rule{Config: cfg, Root: cgroup.Root, Owner: owner}, nil
}

// Check decides whether there are limits, and fails without those that are required, or where tasks could not run as their
// user. It removes the groups that earlier
// processes of the worker have left behind.
func (r *Rule) Check() error {
	r.swept, r.unlimited = 0, nil
	if err := r.checkUser(); err != nil {
		return fmt.Errorf("executor %s: %w", r.Executor, err)
	}
	if r.Cgroup == Off {
		return nil
	}
	err := r.useGroups()
	switch {
	case err == nil:
		return nil
	case r.Cgroup == Required:
		return fmt.Errorf("executor %s: process.cgroup is required, but tasks cannot have limits: %w", r.Executor, err)
	}
	r.unlimited = fmt.Errorf("executor %s: tasks run without limits of cores and memory: %w", r.Executor, err)
	return nil
}

// checkUser gives a folder among the temporary files to the user of tasks, as each task gets one, and goes in as that user.
func (r *Rule) checkUser() error {
	if r.User == nil {
		return nil
	}
	folder, err := os.MkdirTemp("", "dodoor-check-*")
	if err != nil {
		return err
	}
	defer os.Remove(folder)
	dir, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := r.User.Give(dir); err != nil {
		return fmt.Errorf("the folder of a task cannot be given to user %s: %w: set TMPDIR to a folder of another file system",
			r.User.Name, err)
	}
	return r.User.Do(func() error {
		if _, err := os.Stat(folder + "/."); err != nil {
			return fmt.Errorf("TMPDIR, %s, is not reachable for user %s: %w: open the folders on the way there, or set TMPDIR or process.user",
				os.TempDir(), r.User.Name, err)
		}
		return nil
	})
}

func (r *Rule) useGroups() error {
	if r.Groups != nil {
		return nil
	}
	version, err := cgroup.Find(r.Root)
	if err != nil {
		return err
	}
	r.swept = cgroup.Sweep(version, r.Worker)
	groups, err := cgroup.New(version, r.Owner)
	if err != nil {
		return err
	}
	if err := try(groups); err != nil {
		return errors.Join(err, groups.Close())
	}
	r.Groups = groups
	return nil
}

// Sweep removes the groups of processes of a worker that are gone.
func Sweep(worker string) {
	if version, err := cgroup.Find(cgroup.Root); err == nil {
		cgroup.Sweep(version, worker)
	}
}

// try starts a program that does not exist in a control group: all goes well up to that.
func try(groups *cgroup.Groups) error {
	g, err := groups.Create("try", cgroup.Limits{Millicores: executor.LeastMillicores, Memory: executor.LeastMemory << 20, Processes: 1})
	if err != nil {
		return err
	}
	const missing = "/proc/self/missing"
	_, err = (&procgroup.Program{Path: missing, Dir: "/", Cgroup: g}).Start()
	if fork := new(fs.PathError); errors.As(err, &fork) && fork.Path == missing && errors.Is(fork, fs.ErrNotExist) {
		err = nil
	} else {
		err = fmt.Errorf("start a program in control group %s: %w", g.Name(), err)
	}
	return errors.Join(err, g.Remove())
}

// Unlimited says why tasks run without limits although they were to have some, if they can be had.
func (r *Rule) Unlimited() error { return r.unlimited }

// Swept returns how many groups of tasks Check removed.
func (r *Rule) Swept() int { return r.swept }

// Group returns the control group of a task, which Release takes back; nil where there are no limits.
func (r *Rule) Group(s *worker.Start) (*cgroup.Group, error) {
	if r.Groups == nil {
		return nil, nil
	}
	g, err := r.Groups.Create(s.TaskID, r.limits(s))
	if err != nil {
		return nil, fmt.Errorf("worker %s cannot limit the task: %w", r.Worker, err)
	}
	return g, nil
}

// Release gives a group back whose task has ended. What stays is for Close. Tasks of this process's own user could have changed
// theirs, so those do not serve again.
func (r *Rule) Release(g *cgroup.Group) {
	if g != nil {
		_ = r.Groups.Release(g, r.User != nil)
	}
}

// limits is what a task may take: its demand, and no less than anything needs.
func (r *Rule) limits(s *worker.Start) cgroup.Limits {
	memory := executor.MemoryLimit(s) << 20
	if memory == 0 {
		memory = noMemoryLimit
	}
	return cgroup.Limits{Millicores: executor.MillicoreLimit(s), Memory: memory, Processes: int64(r.PidsLimit)}
}

// noMemoryLimit is more than any machine has: to the kernel, that is no limit.
const noMemoryLimit = 1 << 62

// Close removes this process's control groups. Nothing may run any more.
func (r *Rule) Close() error {
	if r.Groups == nil {
		return nil
	}
	if err := r.Groups.Close(); err != nil {
		return fmt.Errorf("executor %s: %w", r.Executor, err)
	}
	r.Groups = nil
	return nil
}
