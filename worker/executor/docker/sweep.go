package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"

	"dodoor/internal/procfs"
)

// What a container says about itself.
const (
	workerLabel = "dodoor.worker"
	taskLabel   = "dodoor.task"
	ownerLabel  = "dodoor.owner" // the process that made it
)

// sweep removes the containers that were left to nobody: those of this worker whose process has died,
// and what this process could not remove when it was to. Other workers may use the same engine, in this
// process or another; theirs are left alone. It returns how many there were.
func (d *Executor) sweep() (removed int, err error) {
	var all []owned
	err = d.request(requestLimit, func(ctx context.Context) (err error) {
		all, err = d.engine.list(ctx, d.cfg.Worker)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("list the containers of worker %s: %w", d.cfg.Worker, err)
	}
	for _, c := range all {
		if d.inUse(c) {
			continue
		}
		if err = d.remove(c.id); err == nil {
			removed++
		} else if unreachable(err) {
			break
		}
	}
	return removed, nil
}

// Sweep removes the containers that processes of a worker have left which are gone.
func Sweep(cfg Config) error {
	d, err := New(cfg)
	if err != nil {
		return err
	}
	_, err = d.sweep()
	return errors.Join(err, d.engine.close())
}

func (d *Executor) inUse(c owned) bool {
	if c.owner != d.owner {
		return procfs.Lives(c.owner)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[c.name]
}

// removeLeftovers sweeps again where something was left behind.
func (d *Executor) removeLeftovers() {
	d.mu.Lock()
	leftovers := d.leftovers
	d.leftovers = false
	d.mu.Unlock()
	if !leftovers {
		return
	}
	if _, err := d.sweep(); err != nil {
		d.noteLeftover()
	}
}

// noteLeftover makes removeLeftovers look for containers that should not be.
func (d *Executor) noteLeftover() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leftovers = true
}

// remove removes a container, running or not; later, if the engine does not do it now.
func (d *Executor) remove(name string) error {
	err := d.request(removeLimit, func(ctx context.Context) error { return d.engine.remove(ctx, name) })
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	d.noteLeftover()
	return err
}

// newName returns one that no container has, and holds it in use.
func (d *Executor) newName() string {
	name := "dodoor-" + strings.ToLower(rand.Text())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name] = true
	return name
}

// release says that a name is not in use any more.
func (d *Executor) release(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.names, name)
}
