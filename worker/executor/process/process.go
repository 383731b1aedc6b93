// Package process runs each task as a program of this machine, in a process group of its own, and in a control
// group that holds it to the task's demand where this process may make some. It runs on Linux.
package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/confine"
	"dodoor/worker/spool"
)

// Config is which programs may be run, and how.
type Config struct {
	Allow    []string     // absolute paths; of folders with a slash behind them; or "*"; with USER= before it for one user alone
	Workdirs []string     // folders that commands may work in; or "*"
	Cgroup   string       // auto, required or off
	Worker   string       // whose tasks they are
	Spool    *spool.Spool // keeps what commands print; nil: nobody does

	PidsLimit int             // processes and threads of a task, where there are control groups
	User      *procgroup.User // whom tasks run as; nil: this process's
	// Accounts are whom tasks run as that somebody in particular has submitted; nil: User, all of them.
	Accounts *procgroup.Accounts
}

// Executor runs each task as a program of this machine: the first of the type's arguments, which has to be
// on the list of those that are allowed, with the others. Control groups hold a task to its demand and its
// processes together, where this process may make some.
type Executor struct {
	executor.Base
	cfg      Config
	rule     *confine.Rule
	spares   spares
	programs programs
	swept    int
}

// New returns an executor. It fails when the configuration makes no sense; whether its programs are
// there is for Check to say.
func New(cfg Config) (*Executor, error) {
	for _, program := range executor.AllEntries(cfg.Allow) {
		if program != anything && !filepath.IsAbs(program) {
			return nil, fmt.Errorf("executor process: process.allow must list absolute paths, found %q", program)
		}
	}
	rule, err := confine.New(confine.Config{Executor: "process", Worker: cfg.Worker, Cgroup: cfg.Cgroup, PidsLimit: cfg.PidsLimit,
		User: cfg.User})
	if err != nil {
		return nil, err
	}
	return &Executor{cfg: cfg, rule: rule, spares: spares{folders: map[int][]string{}}}, nil
}

// Check fails when a program is missing, or the limits that are required. It decides about limits, so it
// has to come before the first task. What earlier processes of this worker have left behind, it removes.
func (p *Executor) Check() error {
	all := rules{Executor: p, allow: executor.AllEntries(p.cfg.Allow), user: p.cfg.User}
	if p.cfg.Accounts != nil {
		all.user = nil // each task's own says whether it may run that
	}
	if err := all.user.Do(all.checkAllowed); err != nil {
		return fmt.Errorf("executor process: %w", err)
	}
	p.swept = sweepWorkFolders(p.cfg.Worker, p.owner())
	return p.rule.Check()
}

// Anybody is the number of the users of tasks where these are many.
const Anybody = -1

// owner is the number of whom tasks run as.
func (p *Executor) owner() int {
	if p.cfg.Accounts != nil {
		return Anybody
	}
	return p.cfg.User.Owner()
}

// Sweep removes what processes of a worker have left which are gone, and whose tasks ran as a user of this number.
func Sweep(worker string, tasks int) {
	confine.Sweep(worker)
	sweepWorkFolders(worker, tasks)
}

// Unlimited says why tasks run without limits although they were to have some, if they can be had. It is
// for whoever called Check to tell.
func (p *Executor) Unlimited() error { return p.rule.Unlimited() }

// Swept returns how many folders of tasks Check removed, of files or of control groups.
func (p *Executor) Swept() int { return p.swept + p.rule.Swept() }

// Close removes this process's control groups and spare folders. Nothing may run any more.
func (p *Executor) Close() error {
	p.spares.remove()
	return p.rule.Close()
}

// runnable fails for what is no program of the tasks' user. Symbolic links are followed, as in starting it. User.Do calls it.
func (p *rules) runnable(program string) error {
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return p.refused(err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", program)
	case p.user.MayRun(program) != nil:
		return p.refused(fmt.Errorf("%s is not executable", program))
	}
	return nil
}

// refused says who has too few rights, where that is not this process's user.
func (p *rules) refused(err error) error {
	if p.user == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w for user %s", err, p.user.Name)
}

// Run runs one task, in a folder of its own that is removed afterwards. The result's CPU is the time of all
// of the task's processes. PeakMemory is the kernel's account in a control group, page cache included;
// otherwise the most that the processes were seen to hold at one time, looking every 50 ms, or the largest of them ever
// held, as far as the kernel tells. Startup ends when the program has been loaded.
//
// A task that certainly never began, because the machine lacked something, is lost: its scheduler places
// it elsewhere.
func (p *Executor) Run(ctx context.Context, s worker.Start) worker.Result {
	if ctx.Err() != nil {
		return executor.Interrupted(ctx)
	}
	if s.Command != nil {
		return p.execute(ctx, &s)
	}
	if len(s.Argv) == 0 {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("task type %s names no program", s.Type))
	}
	if !p.allowsType(s.Argv[0]) {
		return executor.Failed(executor.NoExitCode, fmt.Errorf("worker %s may not run %.200q: process.allow has only %s",
			p.cfg.Worker, s.Argv[0], strings.Join(executor.EntriesFor(p.cfg.Allow, ""), ", ")))
	}
	return p.execute(ctx, &s)
}
