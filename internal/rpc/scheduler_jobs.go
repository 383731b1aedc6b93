package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// Jobs implements Scheduler. Without a deadline it gets the query's wait on top of CallTimeout.
func (c *SchedulerClient) Jobs(ctx context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error) {
	ctx, cancel := c.polls.patient(ctx, q.Wait)
	defer cancel()
	wire := dodoor.NewSchedulerServiceClient(c.polls)
	return expect(&c.peer, MethodJobs, (*decoder).jobStatuses).from(wire.Jobs(ctx, encoder{c.dims}.jobQuery(&q)))
}

func (h *schedulerHandler) Jobs(ctx context.Context, w *dodoor.JobQuery) ([]*dodoor.JobStatus, error) {
	return handle(ctx, h.dims, w, (*decoder).jobQuery, h.to.Jobs, encoder.jobStatuses)
}

// JobTasks implements Scheduler.
func (c *SchedulerClient) JobTasks(ctx context.Context, q cluster.JobTaskQuery) ([]cluster.JobTask, error) {
	return expect(&c.peer, MethodJobTasks, (*decoder).jobTasks).from(c.wire().JobTasks(ctx, encoder{c.dims}.jobTaskQuery(&q)))
}

func (h *schedulerHandler) JobTasks(ctx context.Context, w *dodoor.JobTaskQuery) ([]*dodoor.JobTask, error) {
	return handle(ctx, h.dims, w, (*decoder).jobTaskQuery, h.to.JobTasks, encoder.jobTasks)
}

// CancelJob implements Scheduler.
func (c *SchedulerClient) CancelJob(ctx context.Context, job string) (int64, error) {
	tasks, err := c.wire().CancelJob(ctx, job)
	return tasks, callerError(err)
}

func (h *schedulerHandler) CancelJob(ctx context.Context, job string) (int64, error) {
	return handle(ctx, h.dims, job, (*decoder).jobID, h.to.CancelJob, as[int64])
}

// RetryJob implements Scheduler.
func (c *SchedulerClient) RetryJob(ctx context.Context, job string) (int64, error) {
	tasks, err := c.wire().RetryJob(ctx, job)
	return tasks, callerError(err)
}

func (h *schedulerHandler) RetryJob(ctx context.Context, job string) (int64, error) {
	return handle(ctx, h.dims, job, (*decoder).jobID, h.to.RetryJob, as[int64])
}

// ForgetJob implements Scheduler.
func (c *SchedulerClient) ForgetJob(ctx context.Context, job string) (bool, error) {
	known, err := c.wire().ForgetJob(ctx, job)
	return known, callerError(err)
}

func (h *schedulerHandler) ForgetJob(ctx context.Context, job string) (bool, error) {
	return handle(ctx, h.dims, job, (*decoder).jobID, h.to.ForgetJob, as[bool])
}
