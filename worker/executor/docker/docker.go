// Package docker runs each task in a container of Docker, held to the task's demand.
package docker

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/containerd/errdefs"

	"dodoor/internal/procfs"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/spool"
)

// Config is how containers are run.
type Config struct {
	Host      string       // address of the engine; empty: DOCKER_HOST, or the default socket
	User      string       // uid:gid that tasks run as
	PidsLimit int          // processes and threads of a task
	TmpfsMB   int64        // size of each place that a task can write to, in MiB of its memory; 0: there is none
	Worker    string       // whose containers they are
	Images    []string     // that tasks need: Check wants them on the engine
	Commands  []string     // images that commands may name; or "*"; with USER= before it for one user alone
	Spool     *spool.Spool // keeps what commands print; nil: nobody does
}

// Executor runs each task in a container of its own, which the engine holds to the task's demand: a task
// can neither take more than was reserved for it nor see what runs beside it. Images are never pulled;
// they have to be on the engine.
type Executor struct {
	executor.Base
	cfg    Config
	engine engine
	owner  string // this process
	swept  int    // containers, by Check

	mu        sync.Mutex
	names     map[string]bool // of the containers in use
	leftovers bool            // a container may be left behind
}

// New returns an executor. It fails when the engine's address makes no sense; whether there is an
// engine is for Check to say.
func New(cfg Config) (*Executor, error) {
	owner, err := procfs.Identity(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("executor docker: %w", err)
	}
	e, err := dial(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("executor docker: %w", err)
	}
	return newExecutor(cfg, e, owner), nil
}

func newExecutor(cfg Config, e engine, owner string) *Executor {
	return &Executor{cfg: cfg, engine: e, owner: owner, names: map[string]bool{}}
}

// Check fails when no engine answers. It removes the containers that earlier processes of this worker
// have left behind.
func (d *Executor) Check() error {
	if err := d.request(inspectLimit, d.engine.ping); err != nil {
		return fmt.Errorf("executor docker: %w; install and start Docker (Debian: apt-get install docker.io), or set docker.host", err)
	}
	removed, err := d.sweep()
	if err != nil {
		return fmt.Errorf("executor docker: %w", err)
	}
	d.swept = removed
	return d.checkImages(inspectLimit)
}

// checkImages fails when an image is absent. A worker that took tasks and gave each of them back would
// look idle to schedulers, and get them all.
func (d *Executor) checkImages(limit time.Duration) error {
	for _, name := range d.cfg.Images {
		err := d.request(limit, func(ctx context.Context) error { return d.engine.image(ctx, name) })
		switch {
		case errdefs.IsNotFound(err):
			return fmt.Errorf("executor docker: image %s is not on the engine: build or load it, nothing is pulled", name)
		case err != nil:
			return fmt.Errorf("executor docker: image %s: %w", name, err)
		}
	}
	return nil
}

// Swept returns how many containers Check removed.
func (d *Executor) Swept() int { return d.swept }

// Ready asks whether the engine answers and still has the images, and says why not.
func (d *Executor) Ready() error {
	if err := d.request(readyLimit, d.engine.ping); err != nil {
		return fmt.Errorf("executor docker: %w", err)
	}
	d.removeLeftovers()
	return d.checkImages(readyLimit)
}

// Close tries again to remove what could not be removed, and hangs up. Nothing may run any more.
func (d *Executor) Close() error {
	d.removeLeftovers()
	return d.engine.close()
}

// Run runs one task. The result's CPU is the time of all of the container's processes; its PeakMemory
// is the kernel's account, page cache included. Both are read as the container ends, or up to readEvery
// before when the engine is quick to forget it; they are zero when the end comes within milliseconds. Of
// an engine on another machine, they are the last of its samples, up to two seconds old. Startup ends
// when the engine says that the program started.
//
// A task that certainly never began, for want of its image or of an engine that answers, is lost: its
// scheduler places it elsewhere, as often as it does when workers die. Once it may have begun, what
// goes wrong is its failure: it may go on where nobody can reach it, and it is not for a worker to have
// it run twice.
func (d *Executor) Run(ctx context.Context, s worker.Start) worker.Result {
	if ctx.Err() != nil {
		return executor.Interrupted(ctx)
	}
	x := &execution{Executor: d, task: &s, begin: time.Now(), capture: executor.NewCapture(d.cfg.Spool, &s)}
	defer x.capture.End()
	if s.Command != nil {
		if err := d.Allows(s.User, s.Command.Template); err != nil {
			return executor.Failed(executor.NoExitCode, err)
		}
	}
	return x.run(ctx)
}
