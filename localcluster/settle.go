package localcluster

import (
	"context"
	"fmt"
	"time"

	"dodoor/generator/drive"
)

// startTimeout bounds how long a cluster may take to come up.
const startTimeout = time.Minute

// AwaitWorkers waits until every scheduler takes every worker for a candidate.
func (l *Cluster) AwaitWorkers(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the cluster did not come up within %v", startTimeout))
	defer cancel()
	return l.unlessFault(ctx, func(ctx context.Context) error {
		return drive.AwaitWorkers(ctx, l.Schedulers, l.Data, len(l.workers))
	})
}

// Settle fails when the idle cluster's accounts are not exactly zero, at the data service or in a scheduler's view.
func (l *Cluster) Settle(ctx context.Context) error {
	return l.unlessFault(ctx, func(ctx context.Context) error { return drive.Settle(ctx, l.Schedulers, l.Data) })
}

// unlessFault does something that a service which fails ends, with its error.
func (l *Cluster) unlessFault(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := l.While(ctx)
	defer cancel()
	err := do(ctx)
	if fault := l.Fault(); fault != nil {
		return fault
	}
	return err
}
