package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

const workerSnapshots = false // its messages do not exceed MaxMessageBytes

// WorkerClient calls a worker; see SchedulerClient for what all clients have in common. An ordered
// stream of placements needs one caller at a time, not PoolSize 1: the next call starts after the
// reply to the one before.
type WorkerClient struct{ peer }

var _ Worker = (*WorkerClient)(nil)

// NewWorkerClient returns a client for the worker at addr (host:port).
func NewWorkerClient(addr string, dims cluster.Dimensions, cfg Config) *WorkerClient {
	return &WorkerClient{newPeer(addr, identity.Worker, dims, cfg, workerSnapshots)}
}

// WorkerService serves w.
func WorkerService(w Worker, dims cluster.Dimensions) Service {
	return newService(workerService, dodoor.NewWorkerServiceProcessor(&workerHandler{w, dims}), workerSnapshots)
}

// workerHandler is a Worker as the generated processor wants it.
type workerHandler struct {
	to   Worker
	dims cluster.Dimensions
}

func (c *WorkerClient) wire() *dodoor.WorkerServiceClient {
	return dodoor.NewWorkerServiceClient(c.calls)
}

// Attach implements Worker.
func (c *WorkerClient) Attach(ctx context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error) {
	return expect(&c.peer, MethodAttach, (*decoder).attachReply).from(c.wire().Attach(ctx, encoder{c.dims}.schedulerRef(&s)))
}

func (h *workerHandler) Attach(ctx context.Context, w *dodoor.SchedulerRef) (*dodoor.AttachReply, error) {
	return handle(ctx, h.dims, w, (*decoder).wholeSchedulerRef, h.to.Attach, encoder.attachReply)
}

// Enqueue implements Worker.
func (c *WorkerClient) Enqueue(ctx context.Context, q cluster.Enqueue) (cluster.EnqueueReply, error) {
	return expect(&c.peer, MethodEnqueue, (*decoder).enqueueReply).from(c.wire().Enqueue(ctx, encoder{c.dims}.enqueue(&q)))
}

func (h *workerHandler) Enqueue(ctx context.Context, w *dodoor.EnqueueRequest) (*dodoor.EnqueueReply, error) {
	return handle(ctx, h.dims, w, (*decoder).enqueue, h.to.Enqueue, encoder.enqueueReply)
}

// Claim implements Worker. There is one answer for every claim.
func (c *WorkerClient) Claim(ctx context.Context, q cluster.ClaimRequest) ([]cluster.Holding, error) {
	return expect(&c.peer, MethodClaim, (*decoder).holdings).from(c.wire().Claim(ctx, encoder{c.dims}.claims(&q)))
}

func (h *workerHandler) Claim(ctx context.Context, w *dodoor.ClaimRequest) ([]dodoor.Holding, error) {
	return handle(ctx, h.dims, w, (*decoder).claims, h.to.Claim, encoder.holdings)
}

// Probe implements Worker.
func (c *WorkerClient) Probe(ctx context.Context, taskID string, demand cluster.Resources) (cluster.ProbeReply, error) {
	return expect(&c.peer, MethodProbe, (*decoder).probeReply).from(c.wire().Probe(ctx, encoder{c.dims}.probe(taskID, &demand)))
}

func (h *workerHandler) Probe(ctx context.Context, w *dodoor.ProbeRequest) (*dodoor.ProbeReply, error) {
	return handle(ctx, h.dims, w, (*decoder).probe, h.probe, encoder.probeReply)
}

func (h *workerHandler) probe(ctx context.Context, p probe) (cluster.ProbeReply, error) {
	return h.to.Probe(ctx, p.taskID, p.demand)
}

// Cancel implements Worker.
func (c *WorkerClient) Cancel(ctx context.Context, taskID, scheduler string) (bool, error) {
	found, err := c.wire().Cancel(ctx, taskID, scheduler)
	return found, callerError(err)
}

func (h *workerHandler) Cancel(ctx context.Context, taskID, scheduler string) (bool, error) {
	return handle(ctx, h.dims, cancellation{taskID, scheduler}, (*decoder).cancellation, h.cancel, as[bool])
}

func (h *workerHandler) cancel(ctx context.Context, c cancellation) (bool, error) {
	return h.to.Cancel(ctx, c.taskID, c.scheduler)
}

// Drain implements Worker.
func (c *WorkerClient) Drain(ctx context.Context, draining bool) error {
	return callerError(c.wire().Drain(ctx, draining))
}

func (h *workerHandler) Drain(ctx context.Context, draining bool) error {
	return wireError(ctx, h.to.Drain(ctx, draining))
}

// Tasks implements Worker.
func (c *WorkerClient) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	return expect(&c.peer, MethodTasks, (*decoder).taskStatuses).from(c.wire().Tasks(ctx, encoder{c.dims}.query(&q)))
}

func (h *workerHandler) Tasks(ctx context.Context, w *dodoor.TaskQuery) ([]*dodoor.TaskStatus, error) {
	return handle(ctx, h.dims, w, (*decoder).query, h.to.Tasks, encoder.taskStatuses)
}

// Refuses implements Worker.
func (c *WorkerClient) Refuses(ctx context.Context, t cluster.Template) (string, error) {
	reason, err := c.wire().Refuses(ctx, encoder{c.dims}.template(&t))
	return reason, callerError(err)
}

func (h *workerHandler) Refuses(ctx context.Context, w *dodoor.Template) (string, error) {
	return handle(ctx, h.dims, w, (*decoder).template, h.to.Refuses, as[string])
}

// Output implements Worker. Without a deadline it gets the request's wait on top of CallTimeout.
func (c *WorkerClient) Output(ctx context.Context, r cluster.OutputRequest) (cluster.OutputChunk, error) {
	ctx, cancel := c.calls.patient(ctx, r.Wait)
	defer cancel()
	return expect(&c.peer, MethodOutput, (*decoder).outputChunk).from(c.wire().Output(ctx, encoder{c.dims}.output(&r)))
}

func (h *workerHandler) Output(ctx context.Context, w *dodoor.OutputRequest) (*dodoor.OutputChunk, error) {
	return handle(ctx, h.dims, w, (*decoder).output, h.to.Output, encoder.outputChunk)
}

// ForgetJob implements Worker.
func (c *WorkerClient) ForgetJob(ctx context.Context, job string) error {
	return callerError(c.wire().ForgetJob(ctx, job))
}

func (h *workerHandler) ForgetJob(ctx context.Context, job string) error {
	return accept(ctx, h.dims, job, (*decoder).jobID, h.to.ForgetJob)
}

// State implements Worker.
func (c *WorkerClient) State(ctx context.Context) (cluster.Report, error) {
	return expect(&c.peer, MethodState, (*decoder).wholeReport).from(c.wire().State(ctx))
}

func (h *workerHandler) State(ctx context.Context) (*dodoor.Report, error) {
	return answer(ctx, h.dims, encoder.wholeReport).with(h.to.State(ctx))
}

// Counters implements Worker.
func (c *WorkerClient) Counters(ctx context.Context) (map[string]int64, error) {
	return expect(&c.peer, MethodCounters, (*decoder).counters).from(c.wire().Counters(ctx))
}

func (h *workerHandler) Counters(ctx context.Context) (map[string]int64, error) {
	return answer(ctx, h.dims, as[map[string]int64]).with(h.to.Counters(ctx))
}

// Setup implements Worker.
func (c *WorkerClient) Setup(ctx context.Context) (cluster.Setup, error) {
	return expect(&c.peer, MethodSetup, (*decoder).setup).from(c.wire().Setup(ctx))
}

func (h *workerHandler) Setup(ctx context.Context) (*dodoor.Setup, error) {
	return answer(ctx, h.dims, encoder.setup).with(h.to.Setup(ctx))
}
