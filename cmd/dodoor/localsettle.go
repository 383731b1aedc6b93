package main

import (
	"context"
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// settle flushes every scheduler and pushes to every one of them, and fails when an idle cluster's
// aggregate or a scheduler's view is not exactly zero.
func (l *localCluster) settle(ctx context.Context) error {
	for _, target := range l.targets {
		if err := target.Service.Settle(ctx); err != nil {
			return fmt.Errorf("settle %s: %w", target.Name, err)
		}
	}
	if err := l.idle(ctx, "data service", l.dataClient.Status); err != nil {
		return err
	}
	if err := l.dataClient.Settle(ctx); err != nil {
		return fmt.Errorf("settle the data service: %w", err)
	}
	for _, target := range l.targets {
		if err := l.idle(ctx, target.Name, target.Service.View); err != nil {
			return err
		}
	}
	return nil
}

// idle waits until a service's account of every node is exactly zero: the workers' last reports may
// still be under way.
func (l *localCluster) idle(ctx context.Context, who string, look func(context.Context) (cluster.ClusterStatus, error)) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		status, err := look(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
		busy := ""
		for i := range status.Nodes {
			if !status.Nodes[i].Load.IsZero() {
				busy = fmt.Sprintf("%s accounts %+v on idle worker %s", who, status.Nodes[i].Load, status.Nodes[i].Node.Name)
			}
		}
		if busy == "" {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", busy, ctx.Err())
		}
	}
}
