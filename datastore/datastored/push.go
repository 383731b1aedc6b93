package datastored

import (
	"context"

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// receiver is the connection to one registered scheduler.
type receiver struct {
	client   *rpc.SchedulerClient
	ctx      context.Context
	close    context.CancelFunc
	snapshot cluster.Snapshot // of the push under way
}

// connect replaces the connection to a scheduler. The caller holds the lock.
func (d *Daemon) connect(ref cluster.SchedulerRef) {
	d.disconnect(ref.Name)
	r := &receiver{client: rpc.NewSchedulerClient(ref.Address, d.cfg.Dimensions, d.cfg.RPC.To(ref.Name))}
	r.ctx, r.close = context.WithCancel(d.running)
	d.receivers[ref.Name] = r
	d.work.Go(func() {
		<-r.ctx.Done()
		r.client.Close()
	})
}

// disconnect ends the connection to a scheduler, if it has one, and what is under way on it. The caller holds
// the lock.
func (d *Daemon) disconnect(name string) {
	if r := d.receivers[name]; r != nil {
		r.close()
		delete(d.receivers, name)
	}
	d.progressed()
}

// perform sends the pushes that are due. The caller holds the lock; nothing here blocks.
func (d *Daemon) perform(actions datastore.Actions) {
	for _, p := range actions.Push {
		to := d.receivers[p.To.Name]
		d.work.Go(func() { d.push(to, p) })
	}
}

// push sends one snapshot, and hands on what came of it.
func (d *Daemon) push(to *receiver, p datastore.Push) {
	d.mu.Lock()
	registered := d.store.Fill(&to.snapshot, p)
	d.mu.Unlock()
	if !registered {
		return
	}
	err := to.client.Push(to.ctx, to.snapshot)
	d.mu.Lock()
	defer d.mu.Unlock()
	if to.ctx.Err() != nil {
		return // the connection was ended here: that says nothing about the scheduler
	}
	var actions datastore.Actions
	if code := cluster.CodeOf(err); err == nil || code != 0 {
		actions = d.store.Answered(d.now(), p, code)
	} else {
		actions = d.store.Failed(d.now(), p, rpc.Refused(err))
	}
	if actions.Failing {
		d.log.Warn("push failed", "scheduler", p.To.Name, "address", p.To.Address, "error", err)
	}
	if actions.Gone {
		d.log.Warn("scheduler gone", "scheduler", p.To.Name)
		d.disconnect(p.To.Name)
	}
	d.perform(actions)
	d.progressed()
}

// progressed wakes who waits for pushes to be answered. The caller holds the lock.
func (d *Daemon) progressed() {
	close(d.progress)
	d.progress = make(chan struct{})
}

// settled returns when the pushes asked for so far were answered or given up.
func (d *Daemon) settled(ctx context.Context, asked int64) error {
	for {
		d.mu.Lock()
		settled, progress := d.store.Settled(asked), d.progress
		d.mu.Unlock()
		if settled {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		case <-d.running.Done():
			return nil
		}
	}
}
