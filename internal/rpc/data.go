package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

const dataSnapshots = true // its messages may reach MaxSnapshotBytes

// DataClient calls a data service; see SchedulerClient for what all clients have in common.
type DataClient struct{ peer }

var _ DataService = (*DataClient)(nil)

// NewDataClient returns a client for the data service at addr (host:port).
func NewDataClient(addr string, dims cluster.Dimensions, cfg Config) *DataClient {
	return &DataClient{newPeer(addr, identity.DataService, dims, cfg, dataSnapshots)}
}

// DataServiceService serves d.
func DataServiceService(d DataService, dims cluster.Dimensions) Service {
	return newService(dataService, dodoor.NewDataServiceProcessor(&dataHandler{d, dims}), dataSnapshots)
}

// dataHandler is a DataService as the generated processor wants it.
type dataHandler struct {
	to   DataService
	dims cluster.Dimensions
}

func (c *DataClient) wire() *dodoor.DataServiceClient { return dodoor.NewDataServiceClient(c.calls) }

// RegisterNode implements DataService.
func (c *DataClient) RegisterNode(ctx context.Context, n cluster.Node) (int64, error) {
	return expect(&c.peer, MethodRegisterNode, (*decoder).registered).from(c.wire().RegisterNode(ctx, encoder{c.dims}.node(&n)))
}

func (h *dataHandler) RegisterNode(ctx context.Context, w *dodoor.Node) (int64, error) {
	return handle(ctx, h.dims, w, (*decoder).wholeNode, h.to.RegisterNode, as[int64])
}

// UnregisterNode implements DataService.
func (c *DataClient) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().UnregisterNode(ctx, name, incarnation))
}

func (h *dataHandler) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.UnregisterNode)
}

// RegisterScheduler implements DataService.
func (c *DataClient) RegisterScheduler(ctx context.Context, s cluster.SchedulerRef) (cluster.Snapshot, error) {
	reply, err := c.wire().RegisterScheduler(ctx, encoder{c.dims}.schedulerRef(&s))
	return expect(&c.peer, MethodRegisterScheduler, (*decoder).snapshot).from(reply, err)
}

func (h *dataHandler) RegisterScheduler(ctx context.Context, w *dodoor.SchedulerRef) (*dodoor.Snapshot, error) {
	return handle(ctx, h.dims, w, (*decoder).wholeSchedulerRef, h.to.RegisterScheduler, encoder.wholeSnapshot)
}

// UnregisterScheduler implements DataService.
func (c *DataClient) UnregisterScheduler(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().UnregisterScheduler(ctx, name, incarnation))
}

func (h *dataHandler) UnregisterScheduler(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.UnregisterScheduler)
}

// CheckScheduler implements DataService.
func (c *DataClient) CheckScheduler(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().CheckScheduler(ctx, name, incarnation))
}

func (h *dataHandler) CheckScheduler(ctx context.Context, name string, incarnation int64) error {
	return aboutProcess(ctx, name, incarnation, h.to.CheckScheduler)
}

// aboutProcess passes on a call that names one process of a node or scheduler.
func aboutProcess(ctx context.Context, name string, incarnation int64,
	to func(context.Context, string, int64) error) error {
	if err := honest(ctx, process(name)); err != nil {
		return wireError(ctx, err)
	}
	var d decoder
	d.name("name", &name)
	d.incarnation("incarnation", &incarnation)
	if d.err != nil {
		return invalid(d.err)
	}
	return wireError(ctx, to(ctx, name, incarnation))
}

// Flush implements DataService.
func (c *DataClient) Flush(ctx context.Context, delta cluster.Delta) (int64, error) {
	return expect(&c.peer, MethodDelta, (*decoder).flushReply).from(c.wire().Flush(ctx, encoder{c.dims}.delta(&delta)))
}

func (h *dataHandler) Flush(ctx context.Context, w *dodoor.Delta) (*dodoor.FlushReply, error) {
	return handle(ctx, h.dims, w, (*decoder).delta, h.to.Flush, encoder.flushReply)
}

// Report implements DataService.
func (c *DataClient) Report(ctx context.Context, r cluster.Report) error {
	w := writtenReports.Get().(*reportMessage)
	defer writtenReports.Put(w)
	return callerError(c.wire().Report(ctx, encoder{c.dims}.reportInto(w, &r)))
}

func (h *dataHandler) Report(ctx context.Context, w *dodoor.Report) error {
	return accept(ctx, h.dims, w, (*decoder).wholeReport, h.to.Report)
}

// Status implements DataService.
func (c *DataClient) Status(ctx context.Context) (cluster.ClusterStatus, error) {
	return expect(&c.peer, MethodStatus, (*decoder).clusterStatus).from(c.wire().Status(ctx))
}

func (h *dataHandler) Status(ctx context.Context) (*dodoor.ClusterStatus, error) {
	return answer(ctx, h.dims, encoder.clusterStatus).with(h.to.Status(ctx))
}

// Settle implements DataService.
func (c *DataClient) Settle(ctx context.Context) error { return callerError(c.wire().Settle(ctx)) }

func (h *dataHandler) Settle(ctx context.Context) error { return wireError(ctx, h.to.Settle(ctx)) }

// Counters implements DataService.
func (c *DataClient) Counters(ctx context.Context) (map[string]int64, error) {
	return expect(&c.peer, MethodCounters, (*decoder).counters).from(c.wire().Counters(ctx))
}

func (h *dataHandler) Counters(ctx context.Context) (map[string]int64, error) {
	return answer(ctx, h.dims, as[map[string]int64]).with(h.to.Counters(ctx))
}

// Setup implements DataService.
func (c *DataClient) Setup(ctx context.Context) (cluster.Setup, error) {
	return expect(&c.peer, MethodSetup, (*decoder).setup).from(c.wire().Setup(ctx))
}

func (h *dataHandler) Setup(ctx context.Context) (*dodoor.Setup, error) {
	return answer(ctx, h.dims, encoder.setup).with(h.to.Setup(ctx))
}
