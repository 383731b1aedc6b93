package workerd

import (
	"context"
	"fmt"

	"dodoor/internal/cluster"
)

// Refuses says why this worker would not run a command; empty: it would.
func (d *Daemon) Refuses(_ context.Context, t cluster.Template) (string, error) {
	return d.node.Refuses(&t), nil // which looks at nothing that changes
}

// judge asks the executor whether a command may run.
func (c *Config) judge(executor string, t *cluster.Template) error {
	e := c.Executors[executor]
	if e == nil {
		return fmt.Errorf("worker %s has no executor %q", c.Node.Node.Name, executor)
	}
	return e.Allows(t)
}

// Output returns part of what a task printed. One that waits for the head of the line has printed nothing yet; of one that
// this worker only emulated there will never be anything.
func (d *Daemon) Output(ctx context.Context, r cluster.OutputRequest) (cluster.OutputChunk, error) {
	status := d.held(r.TaskID)
	chunk, err := d.cfg.Spool.Read(ctx, r, status != nil && status.Phase != cluster.Ended)
	if err != nil && status != nil && status.Record != nil && (r.Attempt == 0 || r.Attempt == status.Record.Attempts) {
		return cluster.OutputChunk{Printed: status.Record.Printed, Ended: true, Attempt: status.Record.Attempts}, nil
	}
	return chunk, err
}

// held returns a task that the node holds.
func (d *Daemon) held(taskID string) *cluster.TaskStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.node.Tasks(cluster.TaskQuery{ID: taskID, Max: 1}); len(found) > 0 {
		return &found[0]
	}
	return nil
}

// ForgetJob removes what the tasks of a job printed.
func (d *Daemon) ForgetJob(_ context.Context, job string) error {
	d.cfg.Spool.Forget(job)
	return nil
}
