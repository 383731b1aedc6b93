package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

const schedulerSnapshots = true // its messages may reach MaxSnapshotBytes

// SchedulerClient calls a scheduler. Like every client here it dials when first needed, is safe for
// concurrent use (Config.PoolSize calls run at once, the others queue), keeps within the context's
// deadline and cancellation, and never repeats a request.
type SchedulerClient struct {
	peer
	polls *pool // a long poll must not keep a submission waiting for its connection
}

var _ Scheduler = (*SchedulerClient)(nil)

// NewSchedulerClient returns a client for the scheduler at addr (host:port).
func NewSchedulerClient(addr string, dims cluster.Dimensions, cfg Config) *SchedulerClient {
	const role = identity.Scheduler
	return &SchedulerClient{newPeer(addr, role, dims, cfg, schedulerSnapshots), newPool(addr, role, cfg, schedulerSnapshots)}
}

// Close hangs up. Calls in progress fail with ErrClosed.
func (c *SchedulerClient) Close() error {
	c.polls.close()
	return c.peer.Close()
}

// SchedulerService serves s. Only long polls are exempt from Config.MaxHandlers: they wait for work to
// end, which the other methods have to report.
func SchedulerService(s Scheduler, dims cluster.Dimensions) Service {
	return newService(schedulerService, dodoor.NewSchedulerServiceProcessor(&schedulerHandler{s, dims}), schedulerSnapshots)
}

// schedulerHandler is a Scheduler as the generated processor wants it.
type schedulerHandler struct {
	to   Scheduler
	dims cluster.Dimensions
}

// wire returns a generated client for one call.
func (c *SchedulerClient) wire() *dodoor.SchedulerServiceClient {
	return dodoor.NewSchedulerServiceClient(c.calls)
}

// Submit implements Scheduler.
func (c *SchedulerClient) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	return expect(&c.peer, MethodSubmit, (*decoder).submitReply).from(c.wire().Submit(ctx, encoder{c.dims}.submit(&r)))
}

func (h *schedulerHandler) Submit(ctx context.Context, w *dodoor.SubmitRequest) (*dodoor.SubmitReply, error) {
	return handle(ctx, h.dims, w, (*decoder).submission, h.submit, encoder.submitReply)
}

// submit passes the valid tasks on, unless there are only others.
func (h *schedulerHandler) submit(ctx context.Context, s submission) (refused []cluster.Refusal, err error) {
	if len(s.request.Tasks) > 0 || len(s.invalid) == 0 {
		refused, err = h.to.Submit(ctx, s.request)
	}
	if len(s.invalid) > 0 {
		refused = append(s.invalid, refused...)
	}
	return refused, err
}

// Collect implements Scheduler. Without a deadline it gets the poll's wait on top of CallTimeout.
func (c *SchedulerClient) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	ctx, cancel := c.polls.patient(ctx, r.Wait)
	defer cancel()
	wire := dodoor.NewSchedulerServiceClient(c.polls)
	return expect(&c.peer, MethodCollect, (*decoder).collectReply).from(wire.Collect(ctx, encoder{c.dims}.collect(&r)))
}

func (h *schedulerHandler) Collect(ctx context.Context, w *dodoor.CollectRequest) (*dodoor.CollectReply, error) {
	return handle(ctx, h.dims, w, (*decoder).collect, h.to.Collect, encoder.collectReply)
}

// Cancel implements Scheduler.
func (c *SchedulerClient) Cancel(ctx context.Context, taskID string) (bool, error) {
	found, err := c.wire().Cancel(ctx, taskID)
	return found, callerError(err)
}

func (h *schedulerHandler) Cancel(ctx context.Context, taskID string) (bool, error) {
	return handle(ctx, h.dims, taskID, (*decoder).taskID, h.to.Cancel, as[bool])
}

// Tasks implements Scheduler.
func (c *SchedulerClient) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	return expect(&c.peer, MethodTasks, (*decoder).taskStatuses).from(c.wire().Tasks(ctx, encoder{c.dims}.query(&q)))
}

func (h *schedulerHandler) Tasks(ctx context.Context, w *dodoor.TaskQuery) ([]*dodoor.TaskStatus, error) {
	return handle(ctx, h.dims, w, (*decoder).query, h.to.Tasks, encoder.taskStatuses)
}

// Complete implements Scheduler.
func (c *SchedulerClient) Complete(ctx context.Context, n cluster.CompletionNotice) error {
	return callerError(c.wire().Complete(ctx, encoder{c.dims}.notice(&n)))
}

func (h *schedulerHandler) Complete(ctx context.Context, w *dodoor.CompletionNotice) error {
	return accept(ctx, h.dims, w, (*decoder).notice, h.to.Complete)
}

// Push implements Scheduler.
func (c *SchedulerClient) Push(ctx context.Context, s cluster.Snapshot) error {
	return callerError(c.wire().Push(ctx, encoder{c.dims}.snapshot(&s)))
}

func (h *schedulerHandler) Push(ctx context.Context, w *dodoor.Snapshot) error {
	return accept(ctx, h.dims, w, (*decoder).snapshot, h.to.Push)
}

// View implements Scheduler.
func (c *SchedulerClient) View(ctx context.Context) (cluster.ClusterStatus, error) {
	return expect(&c.peer, MethodView, (*decoder).clusterStatus).from(c.wire().View(ctx))
}

func (h *schedulerHandler) View(ctx context.Context) (*dodoor.ClusterStatus, error) {
	return answer(ctx, h.dims, encoder.clusterStatus).with(h.to.View(ctx))
}

// Settle implements Scheduler.
func (c *SchedulerClient) Settle(ctx context.Context) error { return callerError(c.wire().Settle(ctx)) }

func (h *schedulerHandler) Settle(ctx context.Context) error { return wireError(ctx, h.to.Settle(ctx)) }

// Counters implements Scheduler.
func (c *SchedulerClient) Counters(ctx context.Context) (map[string]int64, error) {
	return expect(&c.peer, MethodCounters, (*decoder).counters).from(c.wire().Counters(ctx))
}

func (h *schedulerHandler) Counters(ctx context.Context) (map[string]int64, error) {
	return answer(ctx, h.dims, as[map[string]int64]).with(h.to.Counters(ctx))
}

// Setup implements Scheduler.
func (c *SchedulerClient) Setup(ctx context.Context) (cluster.Setup, error) {
	return expect(&c.peer, MethodSetup, (*decoder).setup).from(c.wire().Setup(ctx))
}

func (h *schedulerHandler) Setup(ctx context.Context) (*dodoor.Setup, error) {
	return answer(ctx, h.dims, encoder.setup).with(h.to.Setup(ctx))
}

// SwitchPolicy implements Scheduler.
func (c *SchedulerClient) SwitchPolicy(ctx context.Context, policy string, seed uint64) error {
	return callerError(c.wire().SwitchPolicy(ctx, policy, int64(seed)))
}

func (h *schedulerHandler) SwitchPolicy(ctx context.Context, policy string, seed int64) error {
	take := func(ctx context.Context, policy string) error { return h.to.SwitchPolicy(ctx, policy, uint64(seed)) }
	return accept(ctx, h.dims, policy, (*decoder).policy, take)
}
