package executor

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
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

// processIdentity names a process like no other before or after it: process numbers are used again, but not
// at one time since one boot.
func processIdentity(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("the machine's boot: %w", err)
	}
	started, err := processStart(pid)
	if err != nil {
		return "", fmt.Errorf("the start of process %d: %w", pid, err)
	}
	return fmt.Sprintf("%s/%d/%d", bytes.TrimSpace(boot), pid, started), nil
}

// processLives reports whether a process of this machine still runs.
func processLives(identity string) bool {
	fields := strings.Split(identity, "/")
	if len(fields) != 3 {
		return false
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return false
	}
	now, err := processIdentity(pid)
	return err == nil && now == identity
}

// processStart returns when a process started, in clock ticks since boot. It fails for one that is gone,
// waited for or not.
func processStart(pid int) (ticks int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold anything. Behind it are the state and 18 numbers more.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started || bytes.ContainsAny(fields[state], "ZX") {
		return 0, fmt.Errorf("it has ended")
	}
	return number(fields[started]), nil
}
