package schedulerd

import (
	"context"

	"dodoor/internal/cluster"
)

// Jobs tells of a job, or of all.
func (d *Daemon) Jobs(context.Context, cluster.JobQuery) ([]cluster.JobStatus, error) {
	return nil, nil
}

// JobTasks lists tasks of a job.
func (d *Daemon) JobTasks(context.Context, cluster.JobTaskQuery) ([]cluster.JobTask, error) {
	return nil, nil
}

// CancelJob cancels what has not ended of a job.
func (d *Daemon) CancelJob(context.Context, string) (int64, error) { return 0, nil }

// RetryJob runs again what ended otherwise than well.
func (d *Daemon) RetryJob(context.Context, string) (int64, error) { return 0, nil }

// ForgetJob forgets a job that has ended.
func (d *Daemon) ForgetJob(context.Context, string) (bool, error) { return false, nil }
