package executor

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
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
func (d *Docker) sweep() (removed int, err error) {
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

func (d *Docker) inUse(c owned) bool {
	if c.owner != d.owner {
		return processLives(c.owner)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[c.name]
}

// tidy sweeps again where something was left behind.
func (d *Docker) tidy() {
	d.mu.Lock()
	untidy := d.untidy
	d.untidy = false
	d.mu.Unlock()
	if !untidy {
		return
	}
	if _, err := d.sweep(); err != nil {
		d.leaveBehind()
	}
}

// leaveBehind makes tidy look for containers that should not be.
func (d *Docker) leaveBehind() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.untidy = true
}

// remove removes a container, running or not; later, if the engine does not do it now.
func (d *Docker) remove(name string) error {
	err := d.request(removeLimit, func(ctx context.Context) error { return d.engine.remove(ctx, name) })
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	d.leaveBehind()
	return err
}

// newName returns one that no container has, and holds it in use.
func (d *Docker) newName() string {
	name := "dodoor-" + strings.ToLower(rand.Text())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name] = true
	return name
}

// release says that a name is not in use any more.
func (d *Docker) release(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.names, name)
}
