package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// schedulerHandler is a Scheduler as the generated processor wants it.
type schedulerHandler struct {
	to   Scheduler
	dims cluster.Dimensions
}

func (h *schedulerHandler) Submit(ctx context.Context, w *dodoor.SubmitRequest) (*dodoor.SubmitReply, error) {
	d := decoder{dims: h.dims}
	request, invalid := d.submit(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	var refused []cluster.Refusal
	if len(request.Tasks) > 0 || len(invalid) == 0 {
		var err error
		if refused, err = h.to.Submit(ctx, request); err != nil {
			return nil, wireError(ctx, err)
		}
	}
	if len(invalid) > 0 {
		refused = append(invalid, refused...)
	}
	return &dodoor.SubmitReply{Refused: encoder{h.dims}.refusals(refused)}, nil
}

func (h *schedulerHandler) Collect(ctx context.Context, w *dodoor.CollectRequest) (*dodoor.CollectReply, error) {
	d := decoder{dims: h.dims}
	request := d.collect(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	reply, err := h.to.Collect(ctx, request)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.collectReply(&reply), nil
}

func (h *schedulerHandler) Cancel(ctx context.Context, taskID string) (bool, error) {
	return cancelTask(ctx, taskID, h.to.Cancel)
}

func (h *schedulerHandler) Tasks(ctx context.Context, w *dodoor.TaskQuery) ([]*dodoor.TaskStatus, error) {
	return queryTasks(ctx, w, h.dims, h.to.Tasks)
}

func (h *schedulerHandler) Complete(ctx context.Context, w *dodoor.CompletionNotice) error {
	d := decoder{dims: h.dims}
	notice := d.notice(w)
	if d.err != nil {
		return d.serviceError()
	}
	return wireError(ctx, h.to.Complete(ctx, notice))
}

func (h *schedulerHandler) Push(ctx context.Context, w *dodoor.Snapshot) error {
	d := decoder{dims: h.dims}
	snapshot := d.snapshot(w)
	if d.err != nil {
		return d.serviceError()
	}
	return wireError(ctx, h.to.Push(ctx, snapshot))
}

func (h *schedulerHandler) View(ctx context.Context) (*dodoor.ClusterStatus, error) {
	view, err := h.to.View(ctx)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.clusterStatus(&view), nil
}

func (h *schedulerHandler) Settle(ctx context.Context) error {
	return wireError(ctx, h.to.Settle(ctx))
}

func (h *schedulerHandler) Counters(ctx context.Context) (map[string]int64, error) {
	counters, err := h.to.Counters(ctx)
	return counters, wireError(ctx, err)
}

// cancelTask serves Cancel of both services that have it.
func cancelTask(ctx context.Context, taskID string, cancel func(context.Context, string) (bool, error)) (bool, error) {
	var d decoder
	d.name("task_id", &taskID)
	if d.err != nil {
		return false, d.serviceError()
	}
	found, err := cancel(ctx, taskID)
	return found, wireError(ctx, err)
}

// queryTasks serves Tasks of both services that have it.
func queryTasks(ctx context.Context, w *dodoor.TaskQuery, dims cluster.Dimensions,
	tasks func(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error)) ([]*dodoor.TaskStatus, error) {
	d := decoder{dims: dims}
	query := d.query(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	found, err := tasks(ctx, query)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{dims}.taskStatuses(found), nil
}
