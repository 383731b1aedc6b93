package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// dataHandler is a DataService as the generated processor wants it.
type dataHandler struct {
	to   DataService
	dims cluster.Dimensions
}

func (h *dataHandler) RegisterNode(ctx context.Context, w *dodoor.Node) (int64, error) {
	d := decoder{dims: h.dims}
	node := d.node("node", -1, w)
	if d.err != nil {
		return 0, d.serviceError()
	}
	incarnation, err := h.to.RegisterNode(ctx, node)
	return incarnation, wireError(ctx, err)
}

func (h *dataHandler) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.UnregisterNode)
}

func (h *dataHandler) RegisterScheduler(ctx context.Context, w *dodoor.SchedulerRef) (*dodoor.Snapshot, error) {
	d := decoder{dims: h.dims}
	ref := d.schedulerRef("scheduler", -1, w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	snapshot, err := h.to.RegisterScheduler(ctx, ref)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.snapshot(&snapshot), nil
}

func (h *dataHandler) UnregisterScheduler(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.UnregisterScheduler)
}

func (h *dataHandler) CheckScheduler(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.CheckScheduler)
}

// aboutProcess passes on a call that names one process of a node or scheduler.
func aboutProcess(ctx context.Context, name string, incarnation int64,
	to func(context.Context, string, int64) error) error {
	var d decoder
	d.name("name", &name)
	d.incarnation("incarnation", &incarnation)
	if d.err != nil {
		return d.serviceError()
	}
	return wireError(ctx, to(ctx, name, incarnation))
}

func (h *dataHandler) Flush(ctx context.Context, w *dodoor.Delta) (*dodoor.FlushReply, error) {
	d := decoder{dims: h.dims}
	delta := d.delta(w)
	if d.err != nil {
		return nil, d.serviceError()
	}
	incarnation, err := h.to.Flush(ctx, delta)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return &dodoor.FlushReply{Incarnation: &incarnation}, nil
}

func (h *dataHandler) Report(ctx context.Context, w *dodoor.Report) error {
	d := decoder{dims: h.dims}
	report := d.report("report", w)
	if d.err != nil {
		return d.serviceError()
	}
	return wireError(ctx, h.to.Report(ctx, report))
}

func (h *dataHandler) Status(ctx context.Context) (*dodoor.ClusterStatus, error) {
	status, err := h.to.Status(ctx)
	if err != nil {
		return nil, wireError(ctx, err)
	}
	return encoder{h.dims}.clusterStatus(&status), nil
}

func (h *dataHandler) Settle(ctx context.Context) error {
	return wireError(ctx, h.to.Settle(ctx))
}

func (h *dataHandler) Counters(ctx context.Context) (map[string]int64, error) {
	counters, err := h.to.Counters(ctx)
	return counters, wireError(ctx, err)
}
