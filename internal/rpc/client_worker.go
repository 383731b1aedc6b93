package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// WorkerClient calls a worker; see SchedulerClient for what all clients have in common. An ordered
// stream of placements needs one caller at a time, not PoolSize 1: the next call starts after the
// reply to the one before.
type WorkerClient struct {
	calls *pool
	dims  cluster.Dimensions
}

var _ Worker = (*WorkerClient)(nil)

// NewWorkerClient returns a client for the worker at addr (host:port).
func NewWorkerClient(addr string, dims cluster.Dimensions, cfg Config) *WorkerClient {
	cfg = cfg.filled()
	return &WorkerClient{calls: newPool(addr, cfg, cfg.limit(false)), dims: dims}
}

// Close hangs up. Calls in progress fail with ErrClosed.
func (c *WorkerClient) Close() error {
	c.calls.close()
	return nil
}

func (c *WorkerClient) wire() *dodoor.WorkerServiceClient {
	return dodoor.NewWorkerServiceClient(c.calls)
}

// Attach implements Worker.
func (c *WorkerClient) Attach(ctx context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error) {
	ref := schedulerRef(&s)
	reply, err := c.wire().Attach(ctx, &ref)
	if err != nil {
		return cluster.AttachReply{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	attached := d.attachReply(reply)
	return attached, c.calls.checked(MethodAttach, d.err)
}

// Enqueue implements Worker.
func (c *WorkerClient) Enqueue(ctx context.Context, q cluster.Enqueue) (cluster.EnqueueReply, error) {
	reply, err := c.wire().Enqueue(ctx, encoder{c.dims}.enqueue(&q))
	if err != nil {
		return cluster.EnqueueReply{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	held := d.enqueueReply(reply)
	return held, c.calls.checked(MethodEnqueue, d.err)
}

// Probe implements Worker.
func (c *WorkerClient) Probe(ctx context.Context, taskID string, demand cluster.Resources) (cluster.ProbeReply, error) {
	reply, err := c.wire().Probe(ctx, encoder{c.dims}.probe(taskID, &demand))
	if err != nil {
		return cluster.ProbeReply{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	probed := d.probeReply(reply)
	return probed, c.calls.checked(MethodProbe, d.err)
}

// Cancel implements Worker.
func (c *WorkerClient) Cancel(ctx context.Context, taskID string) (bool, error) {
	found, err := c.wire().Cancel(ctx, taskID)
	return found, callerError(err)
}

// Drain implements Worker.
func (c *WorkerClient) Drain(ctx context.Context, draining bool) error {
	return callerError(c.wire().Drain(ctx, draining))
}

// Tasks implements Worker.
func (c *WorkerClient) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	reply, err := c.wire().Tasks(ctx, encoder{c.dims}.query(&q))
	if err != nil {
		return nil, callerError(err)
	}
	d := decoder{dims: c.dims}
	tasks := d.taskStatuses(reply)
	return tasks, c.calls.checked(MethodTasks, d.err)
}

// State implements Worker.
func (c *WorkerClient) State(ctx context.Context) (cluster.Report, error) {
	reply, err := c.wire().State(ctx)
	if err != nil {
		return cluster.Report{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	report := d.report("report", reply)
	return report, c.calls.checked(MethodState, d.err)
}

// Counters implements Worker.
func (c *WorkerClient) Counters(ctx context.Context) (map[string]int64, error) {
	reply, err := c.wire().Counters(ctx)
	if err != nil {
		return nil, callerError(err)
	}
	var d decoder
	counters := d.counters(reply)
	return counters, c.calls.checked(MethodCounters, d.err)
}
