package schedulerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// Jobs tells of a job, waiting up to q.Wait until it has no open task here, or of all.
func (d *Daemon) Jobs(ctx context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error) {
	var list []cluster.JobStatus
	err := d.await(ctx, q.Wait, func() bool {
		list = d.replica.Jobs(&q)
		return q.ID == "" || q.Wait == 0 || !d.replica.JobOpen(q.ID)
	})
	for i := range list {
		if list[i].Ended != 0 { // before this process began it is negative
			list[i].Ended += time.Duration(d.start.UnixNano())
		}
	}
	return list, err
}

// JobTasks lists tasks of a job.
func (d *Daemon) JobTasks(_ context.Context, q cluster.JobTaskQuery) (list []cluster.JobTask, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = d.whole(func() { list = d.replica.JobTasks(&q) })
	return list, err
}

// CancelJob cancels what has not ended of a job, and returns how many tasks that is.
func (d *Daemon) CancelJob(ctx context.Context, job string) (tasks int64, err error) {
	err = d.changed(ctx, func() error {
		var actions *scheduler.Actions
		actions, tasks = d.replica.CancelJob(d.now(), job)
		d.perform(actions)
		return nil
	})
	return tasks, err
}

// RetryJob runs again what ended otherwise than well, and returns how many tasks that is.
func (d *Daemon) RetryJob(ctx context.Context, job string) (tasks int64, err error) {
	if err := d.record.room(); err != nil {
		return 0, err
	}
	err = d.changed(ctx, func() (err error) {
		var actions *scheduler.Actions
		actions, tasks, err = d.replica.RetryJob(d.now(), job)
		d.perform(actions)
		return err
	})
	return tasks, err
}

// ForgetJob forgets a job that has ended; false: it is not known here.
func (d *Daemon) ForgetJob(ctx context.Context, job string) (known bool, err error) {
	err = d.changed(ctx, func() (err error) {
		known, err = d.replica.ForgetJob(job)
		return err
	})
	return known, err
}
