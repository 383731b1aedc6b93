package drive

import (
	"context"
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
)

// settlePause is between two questions whether a cluster is where it should be.
const settlePause = 10 * time.Millisecond

// AwaitWorkers waits until every scheduler takes that many workers for candidates, and until the pushes that the
// registrations caused have ended: they are no part of a run.
func AwaitWorkers(ctx context.Context, schedulers []Target, data rpc.DataService, workers int) error {
	for _, target := range schedulers {
		err := until(ctx, func() error {
			counts, err := target.Service.Counters(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", target.Name, err)
			}
			if counts["candidates"] != int64(workers) {
				return fmt.Errorf("%s knows %d of %d workers", target.Name, counts["candidates"], workers)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return data.Settle(ctx)
}

// Settle flushes every scheduler and pushes to every one of them, and fails when an idle cluster's aggregate or a
// scheduler's view is not exactly zero before ctx ends.
func Settle(ctx context.Context, schedulers []Target, data rpc.DataService) error {
	for _, target := range schedulers {
		if err := target.Service.Settle(ctx); err != nil {
			return fmt.Errorf("settle %s: %w", target.Name, err)
		}
	}
	if err := idle(ctx, "data service", data.Status); err != nil {
		return err
	}
	if err := data.Settle(ctx); err != nil {
		return fmt.Errorf("settle the data service: %w", err)
	}
	for _, target := range schedulers {
		if err := idle(ctx, target.Name, target.Service.View); err != nil {
			return err
		}
	}
	return nil
}

// idle waits until a service's account of every node is exactly zero: the workers' last reports may
// still be under way.
func idle(ctx context.Context, who string, look func(context.Context) (cluster.ClusterStatus, error)) error {
	var busy, failed error
	err := until(ctx, func() error {
		var status cluster.ClusterStatus
		if status, failed = look(ctx); failed != nil {
			return nil
		}
		busy = nil
		for i := range status.Nodes {
			if !status.Nodes[i].Load.IsZero() {
				busy = fmt.Errorf("%s accounts %+v on idle worker %s", who, status.Nodes[i].Load, status.Nodes[i].Node.Name)
			}
		}
		return busy
	})
	switch {
	case failed == nil:
		return err
	case busy != nil: // the time was over while it was asked
		return fmt.Errorf("%w: %w", busy, failed)
	}
	return fmt.Errorf("%s: %w", who, failed)
}

// until asks again and again until there is nothing missing any more, or ctx ends.
func until(ctx context.Context, missing func() error) error {
	var lacks error
	if poll.Until(ctx, settlePause, func() bool { lacks = missing(); return lacks == nil }) {
		return nil
	}
	return fmt.Errorf("%w: %w", lacks, context.Cause(ctx))
}
