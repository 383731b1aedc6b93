package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// answerWithin bounds the question who is there.
const answerWithin = 2 * time.Second

// find asks the data service who is there or, where the person says so or it does not answer, the schedulers: those that
// the person's file lists, or those that were there the last time.
func (v *visit) find(o *options) (err error) {
	if len(o.only) > 0 {
		v.given = refsOf(o.only)
		v.status, err = v.ask(v.ctx, v.given)
		return err
	}
	address := v.c.Datastore.DialAddress()
	v.data = rpc.NewDataClient(address, v.dims, v.cfg)
	if v.status, err = v.asked(v.ctx); err == nil {
		v.absent = remember(address, v.status.Schedulers)
		return nil
	}
	err = fmt.Errorf("data service at %s: %w", address, err)
	if v.ctx.Err() != nil {
		return err
	}
	since := "those of its entry"
	if v.given = refsOf(o.others); len(v.given) == 0 {
		v.given, v.absent, since = recall(address)
	}
	if len(v.given) > 0 {
		status, unknown := v.ask(v.ctx, v.given)
		if unknown == nil {
			fmt.Fprintf(o.stderr, "%s: %v; the schedulers are asked, %s\n", o.Name(), err, since)
			v.status, v.silent = status, true
			return nil
		}
		err = errors.Join(err, unknown)
	}
	return fmt.Errorf("%w (give its address with -datastore, or its name with -cluster, or those of schedulers with -schedulers)", err)
}

// refsOf are schedulers of which the addresses alone are known.
func refsOf(addresses []string) (refs []cluster.SchedulerRef) {
	for _, address := range addresses {
		refs = append(refs, cluster.SchedulerRef{Name: address, Address: address})
	}
	return refs
}

// asked asks the data service.
func (v *visit) asked(ctx context.Context) (cluster.ClusterStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return v.data.Status(ctx)
}

// look asks again who is there.
func (v *visit) look(ctx context.Context) (cluster.ClusterStatus, error) {
	if v.data != nil && !v.silent {
		if status, err := v.asked(ctx); err == nil || len(v.given) == 0 {
			return status, err
		}
	}
	return v.ask(ctx, v.given)
}

// ask asks schedulers: one that answers is enough. Of the workers the one is believed that knows most.
func (v *visit) ask(ctx context.Context, refs []cluster.SchedulerRef) (cluster.ClusterStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	views, errs := make([]cluster.ClusterStatus, len(refs)), make([]error, len(refs))
	var calls sync.WaitGroup
	for i := range refs {
		calls.Go(func() {
			scheduler := v.scheduler(refs[i])
			defer scheduler.Close()
			if views[i], errs[i] = scheduler.View(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("scheduler %s: %w", refs[i].Name, errs[i])
			}
		})
	}
	calls.Wait()
	best := -1
	for i := range views {
		if errs[i] == nil && (best < 0 || len(views[i].Nodes) > len(views[best].Nodes)) {
			best = i
		}
	}
	if best < 0 {
		return cluster.ClusterStatus{}, errors.Join(errs...)
	}
	status := views[best]
	status.Schedulers = refs
	return status, nil
}
