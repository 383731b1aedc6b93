package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// workerHandler is a Worker as the generated processor wants it.
type workerHandler struct {
	to   Worker
	dims cluster.Dimensions
}

func (h *workerHandler) Attach(ctx context.Context, w *dodoor.SchedulerRef) (*dodoor.AttachReply, error) {
	d := decoder{dims: h.dims}
	ref := d.schedulerRef("scheduler", -1, w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	reply, err := h.to.Attach(ctx, ref)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.attachReply(&reply), nil
}

func (h *workerHandler) Enqueue(ctx context.Context, w *dodoor.EnqueueRequest) (*dodoor.EnqueueReply, error) {
	d := decoder{dims: h.dims}
	request := d.enqueue(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	reply, err := h.to.Enqueue(ctx, request)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.enqueueReply(&reply), nil
}

func (h *workerHandler) Probe(ctx context.Context, w *dodoor.ProbeRequest) (*dodoor.ProbeReply, error) {
	d := decoder{dims: h.dims}
	taskID, demand := d.probe(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	reply, err := h.to.Probe(ctx, taskID, demand)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.probeReply(&reply), nil
}

func (h *workerHandler) Cancel(ctx context.Context, taskID string) (bool, error) {
	return cancelTask(ctx, taskID, h.to.Cancel)
}

func (h *workerHandler) Drain(ctx context.Context, draining bool) error {
	return wireError(ctx, h.to.Drain(ctx, draining))
}

func (h *workerHandler) Tasks(ctx context.Context, w *dodoor.TaskQuery) ([]*dodoor.TaskStatus, error) {
	return queryTasks(ctx, w, h.dims, h.to.Tasks)
}

func (h *workerHandler) State(ctx context.Context) (*dodoor.Report, error) {
	report, err := h.to.State(ctx)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.report(&report), nil
}

func (h *workerHandler) Counters(ctx context.Context) (map[string]int64, error) {
	counters, err := h.to.Counters(ctx)
	return counters, wireError(ctx, err)
}
