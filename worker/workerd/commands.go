package workerd

import (
	"context"
	"fmt"
	"slices"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// Refuses says why this worker would not run a command for whoever asks; empty: it would.
func (d *Daemon) Refuses(ctx context.Context, t cluster.Template) (string, error) {
	return d.node.Refuses(rpc.Asker(ctx).User, &t), nil // which looks at nothing that changes
}

// judge finds out whether the commands of a message may run that the node does not know. That looks at files, which may be on
// a file system that does not answer, so nobody else waits for it.
func (d *Daemon) judge(e *cluster.Enqueue) {
	if !slices.ContainsFunc(e.Assignments, func(a cluster.Assignment) bool { return a.Command != nil }) {
		return
	}
	d.mu.Lock()
	unjudged := d.node.Unjudged(d.now(), e)
	d.mu.Unlock()
	for _, u := range unjudged {
		verdict := d.node.Judge(u.User, u.Of)
		d.mu.Lock()
		d.node.Learn(d.now(), verdict)
		d.mu.Unlock()
	}
}

// judge asks the executor whether a command may run for a user.
func (c *Config) judge(executor, user string, t *cluster.Template) error {
	e := c.Executors[executor]
	if e == nil {
		return fmt.Errorf("worker %s has no executor %q", c.Node.Node.Name, executor)
	}
	return e.Allows(user, t)
}

// Output returns part of what a task printed. One that waits for the head of the line has printed nothing yet, whatever an
// earlier attempt of it did here; of one that this worker only emulated there will never be anything.
func (d *Daemon) Output(ctx context.Context, r cluster.OutputRequest) (cluster.OutputChunk, error) {
	r.For = rpc.Asker(ctx)
	attempt, record := d.held(r.For, r.TaskID)
	open := attempt > 0 && record == nil
	if open && r.Attempt == 0 {
		r.Attempt = attempt
	}
	chunk, err := d.cfg.Spool.Read(ctx, r, open && r.Attempt == attempt)
	if err != nil && record != nil && (r.Attempt == 0 || r.Attempt == attempt) {
		chunk = cluster.OutputChunk{Printed: record.Printed, Ended: true, Attempt: attempt}
		if record.Printed > 0 {
			chunk.Loss = err.Error()
		}
		return chunk, nil
	}
	return chunk, err
}

// held returns which attempt of a task the node holds, 0 for none that the asker sees, and its record if it has ended.
func (d *Daemon) held(by cluster.Asker, taskID string) (attempt int, record *cluster.TaskRecord) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.node.Tasks(cluster.TaskQuery{ID: taskID, Max: 1, For: by}); len(found) > 0 {
		record = found[0].Record
	}
	return d.node.Attempt(by, taskID), record
}

// ForgetJob removes what the tasks of a job printed, as far as the asker sees them.
func (d *Daemon) ForgetJob(ctx context.Context, job string) error {
	d.cfg.Spool.Forget(rpc.Asker(ctx), job)
	return nil
}
