package schedulerd

import (
	"context"

	"dodoor/internal/cluster"
)

// Estimates tells how long this replica expects tasks to run.
func (d *Daemon) Estimates(_ context.Context, q cluster.EstimateQuery) ([]cluster.Estimate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replica.Estimates(&q), nil
}
