package rpc

import (
	"context"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// Estimates implements Scheduler.
func (c *SchedulerClient) Estimates(ctx context.Context, q cluster.EstimateQuery) ([]cluster.Estimate, error) {
	return expect(&c.peer, MethodEstimates, (*decoder).estimates).from(c.wire().Estimates(ctx, encoder{c.dims}.estimateQuery(&q)))
}

func (h *schedulerHandler) Estimates(ctx context.Context, w *dodoor.EstimateQuery) ([]*dodoor.Estimate, error) {
	return handle(ctx, h.dims, w, (*decoder).estimateQuery, h.to.Estimates, encoder.estimates)
}
