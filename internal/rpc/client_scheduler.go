package rpc

import (
	"context"
	"fmt"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// SchedulerClient calls a scheduler. Like every client here it dials when first needed, is safe for
// concurrent use (Config.PoolSize calls run at once, the others queue), keeps within the context's
// deadline and cancellation, and never repeats a request.
type SchedulerClient struct {
	calls, polls *pool // a long poll must not keep a submission waiting for its connection
	dims         cluster.Dimensions
}

var _ Scheduler = (*SchedulerClient)(nil)

// NewSchedulerClient returns a client for the scheduler at addr (host:port).
func NewSchedulerClient(addr string, dims cluster.Dimensions, cfg Config) *SchedulerClient {
	cfg = cfg.filled()
	return &SchedulerClient{
		calls: newPool(addr, cfg, cfg.limit(true)), polls: newPool(addr, cfg, cfg.limit(true)), dims: dims,
	}
}

// Close hangs up. Calls in progress fail with ErrClosed.
func (c *SchedulerClient) Close() error {
	c.calls.close()
	c.polls.close()
	return nil
}

// wire returns a generated client for one call.
func (c *SchedulerClient) wire() *dodoor.SchedulerServiceClient {
	return dodoor.NewSchedulerServiceClient(c.calls)
}

// Submit implements Scheduler.
func (c *SchedulerClient) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	reply, err := c.wire().Submit(ctx, encoder{c.dims}.submit(&r))
	if err != nil {
		return nil, callerError(err)
	}
	d := decoder{dims: c.dims}
	refused := d.refusals(reply.Refused, 0)
	return refused, c.calls.checked(MethodSubmit, d.err)
}

// Collect implements Scheduler. Without a deadline it gets the poll's wait on top of CallTimeout.
func (c *SchedulerClient) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.polls.cfg.CallTimeout+max(r.Wait, 0))
		defer cancel()
	}
	reply, err := dodoor.NewSchedulerServiceClient(c.polls).Collect(ctx, encoder{c.dims}.collect(&r))
	if err != nil {
		return cluster.CollectReply{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	collected := d.collectReply(reply)
	return collected, c.polls.checked(MethodCollect, d.err)
}

// Cancel implements Scheduler.
func (c *SchedulerClient) Cancel(ctx context.Context, taskID string) (bool, error) {
	found, err := c.wire().Cancel(ctx, taskID)
	return found, callerError(err)
}

// Tasks implements Scheduler.
func (c *SchedulerClient) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	reply, err := c.wire().Tasks(ctx, encoder{c.dims}.query(&q))
	if err != nil {
		return nil, callerError(err)
	}
	d := decoder{dims: c.dims}
	tasks := d.taskStatuses(reply)
	return tasks, c.calls.checked(MethodTasks, d.err)
}

// Complete implements Scheduler.
func (c *SchedulerClient) Complete(ctx context.Context, n cluster.CompletionNotice) error {
	return callerError(c.wire().Complete(ctx, encoder{c.dims}.notice(&n)))
}

// Push implements Scheduler.
func (c *SchedulerClient) Push(ctx context.Context, s cluster.Snapshot) error {
	return callerError(c.wire().Push(ctx, encoder{c.dims}.snapshot(&s)))
}

// View implements Scheduler.
func (c *SchedulerClient) View(ctx context.Context) (cluster.ClusterStatus, error) {
	reply, err := c.wire().View(ctx)
	if err != nil {
		return cluster.ClusterStatus{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	view := d.clusterStatus(reply)
	return view, c.calls.checked(MethodView, d.err)
}

// Settle implements Scheduler.
func (c *SchedulerClient) Settle(ctx context.Context) error { return callerError(c.wire().Settle(ctx)) }

// Counters implements Scheduler.
func (c *SchedulerClient) Counters(ctx context.Context) (map[string]int64, error) {
	reply, err := c.wire().Counters(ctx)
	if err != nil {
		return nil, callerError(err)
	}
	var d decoder
	counters := d.counters(reply)
	return counters, c.calls.checked(MethodCounters, d.err)
}

// checked wraps what a decoder found wrong with a reply.
func (p *pool) checked(m Method, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s at %s: %w: invalid reply: %w", m, p.addr, ErrRemote, err)
}
