package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// DataClient calls a data service; see SchedulerClient for what all clients have in common.
type DataClient struct {
	calls *pool
	dims  cluster.Dimensions
}

var _ DataService = (*DataClient)(nil)

// NewDataClient returns a client for the data service at addr (host:port).
func NewDataClient(addr string, dims cluster.Dimensions, cfg Config) *DataClient {
	cfg = cfg.filled()
	return &DataClient{calls: newPool(addr, cfg, cfg.limit(true)), dims: dims}
}

// Close hangs up. Calls in progress fail with ErrClosed.
func (c *DataClient) Close() error {
	c.calls.close()
	return nil
}

func (c *DataClient) wire() *dodoor.DataServiceClient { return dodoor.NewDataServiceClient(c.calls) }

// RegisterNode implements DataService.
func (c *DataClient) RegisterNode(ctx context.Context, n cluster.Node) (int64, error) {
	incarnation, err := c.wire().RegisterNode(ctx, encoder{c.dims}.node(&n))
	if err != nil {
		return 0, callerError(err)
	}
	var d decoder
	d.incarnation("incarnation", &incarnation)
	return incarnation, c.calls.checked(MethodRegisterNode, d.err)
}

// UnregisterNode implements DataService.
func (c *DataClient) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().UnregisterNode(ctx, name, incarnation))
}

// RegisterScheduler implements DataService.
func (c *DataClient) RegisterScheduler(ctx context.Context, s cluster.SchedulerRef) (cluster.Snapshot, error) {
	ref := schedulerRef(&s)
	reply, err := c.wire().RegisterScheduler(ctx, &ref)
	if err != nil {
		return cluster.Snapshot{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	snapshot := d.snapshot(reply)
	return snapshot, c.calls.checked(MethodRegisterScheduler, d.err)
}

// UnregisterScheduler implements DataService.
func (c *DataClient) UnregisterScheduler(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().UnregisterScheduler(ctx, name, incarnation))
}

// CheckScheduler implements DataService.
func (c *DataClient) CheckScheduler(ctx context.Context, name string, incarnation int64) error {
	return callerError(c.wire().CheckScheduler(ctx, name, incarnation))
}

// Flush implements DataService.
func (c *DataClient) Flush(ctx context.Context, delta cluster.Delta) (int64, error) {
	reply, err := c.wire().Flush(ctx, encoder{c.dims}.delta(&delta))
	if err != nil {
		return 0, callerError(err)
	}
	var d decoder
	incarnation := d.incarnation("incarnation", reply.Incarnation)
	return incarnation, c.calls.checked(MethodDelta, d.err)
}

// Report implements DataService.
func (c *DataClient) Report(ctx context.Context, r cluster.Report) error {
	return callerError(c.wire().Report(ctx, encoder{c.dims}.report(&r)))
}

// Status implements DataService.
func (c *DataClient) Status(ctx context.Context) (cluster.ClusterStatus, error) {
	reply, err := c.wire().Status(ctx)
	if err != nil {
		return cluster.ClusterStatus{}, callerError(err)
	}
	d := decoder{dims: c.dims}
	status := d.clusterStatus(reply)
	return status, c.calls.checked(MethodStatus, d.err)
}

// Settle implements DataService.
func (c *DataClient) Settle(ctx context.Context) error { return callerError(c.wire().Settle(ctx)) }

// Counters implements DataService.
func (c *DataClient) Counters(ctx context.Context) (map[string]int64, error) {
	reply, err := c.wire().Counters(ctx)
	if err != nil {
		return nil, callerError(err)
	}
	var d decoder
	counters := d.counters(reply)
	return counters, c.calls.checked(MethodCounters, d.err)
}
