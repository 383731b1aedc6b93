package schedulerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
)

// Jobs tells of a job, waiting up to q.Wait until it has no open task here, or of all.
func (d *Daemon) Jobs(ctx context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error) {
	var list []cluster.JobStatus
	err := d.await(ctx, q.Wait, func() bool {
		list = d.replica.Jobs(&q)
		return q.ID == "" || q.Wait == 0 || !d.replica.JobOpen(q.ID)
	})
	for i := range list {
		if list[i].Ended > 0 {
			list[i].Ended += time.Duration(d.start.UnixNano())
		}
	}
	return list, err
}

// JobTasks lists tasks of a job.
func (d *Daemon) JobTasks(_ context.Context, q cluster.JobTaskQuery) ([]cluster.JobTask, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replica.JobTasks(&q), nil
}

// CancelJob cancels what has not ended of a job, and returns how many tasks that is.
func (d *Daemon) CancelJob(_ context.Context, job string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, tasks := d.replica.CancelJob(d.now(), job)
	d.perform(actions)
	return tasks, nil
}

// RetryJob runs again what ended otherwise than well, and returns how many tasks that is.
func (d *Daemon) RetryJob(_ context.Context, job string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, tasks, err := d.replica.RetryJob(d.now(), job)
	d.perform(actions)
	return tasks, err
}

// ForgetJob forgets a job that has ended; false: it is not known here.
func (d *Daemon) ForgetJob(_ context.Context, job string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replica.ForgetJob(job)
}
