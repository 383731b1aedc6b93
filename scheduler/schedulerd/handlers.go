package schedulerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// changed answers a request that changes something: when that, and all that the answer tells of, is durable.
func (d *Daemon) changed(ctx context.Context, change func() error) error {
	upTo, err := d.change(change)
	if err != nil {
		return err
	}
	return d.record.durable(ctx, upTo)
}

// change returns the position after a change.
func (d *Daemon) change(change func() error) (upTo int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = change()
	d.record.note()
	return d.replica.Recorded(), err
}

// Submit accepts tasks, or refuses them one by one with the reason.
func (d *Daemon) Submit(ctx context.Context, r cluster.SubmitRequest) (refused []cluster.Refusal, err error) {
	if err := d.record.room(); err != nil {
		return nil, err
	}
	err = d.changed(ctx, func() error {
		refused, err = d.submit(&r)
		return err
	})
	return refused, err
}

func (d *Daemon) submit(r *cluster.SubmitRequest) (refused []cluster.Refusal, err error) {
	if memory := d.replica.Memory(); r.Incarnation != 0 && r.Incarnation != memory {
		return nil, cluster.Errorf(cluster.Stale, "scheduler %s has another memory (%d) than the tasks are for (%d)", d.self.Name, memory,
			r.Incarnation)
	}
	if err := d.replica.Admit(r.Client, len(r.Tasks)); err != nil {
		return nil, err
	}
	for i := range r.Tasks {
		before := time.Now()
		actions, refusal := d.replica.SubmitJob(before.Sub(d.start), r.Job, r.Client, &r.Tasks[i])
		d.metrics.decision.Observe(time.Since(before))
		if refusal != nil {
			refused = append(refused, *refusal)
		}
		d.perform(actions)
	}
	return refused, nil
}

// Collect returns the records of a client's ended tasks, waiting up to r.Wait for the first.
func (d *Daemon) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	var reply cluster.CollectReply
	var refused error
	err := d.await(ctx, r.Wait, func() bool {
		var records []cluster.TaskRecord
		var cursor int64
		records, cursor, refused = d.replica.Collect(nil, &r)
		reply = d.collected(records, cursor)
		return refused != nil || len(records) > 0
	})
	if err != nil {
		return cluster.CollectReply{}, err
	}
	return reply, refused
}

// await asks, under the lock, whenever there is news, until ask says that it is done, the wait is over or the service
// ends. What it was told is durable then. It fails when the caller gives up.
func (d *Daemon) await(ctx context.Context, wait time.Duration, ask func() (done bool)) error {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for timedOut := false; ; {
		d.mu.Lock()
		done := false
		if err := d.whole(func() { done = ask() || timedOut }); err != nil {
			d.mu.Unlock()
			return err
		}
		news := d.news
		d.record.note()
		upTo := d.replica.Recorded()
		if !done {
			d.waiting++
		}
		d.mu.Unlock()
		if done {
			return d.record.durable(ctx, upTo)
		}
		select {
		case <-news:
		case <-deadline.C:
			timedOut = true
		case <-d.running.Done():
			timedOut = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// collected moves the records' times from the replica's clock to the Unix epoch.
func (d *Daemon) collected(records []cluster.TaskRecord, cursor int64) cluster.CollectReply {
	for i := range records {
		records[i].Received += time.Duration(d.start.UnixNano())
	}
	return cluster.CollectReply{Cursor: cursor, Records: records, Incarnation: d.replica.Memory(), Keeps: d.record.journal != nil}
}

// Cancel asks for a task's end; false: it is unknown here or has ended.
func (d *Daemon) Cancel(ctx context.Context, taskID string) (found bool, err error) {
	err = d.changed(ctx, func() error {
		var actions *scheduler.Actions
		actions, found = d.replica.Cancel(d.now(), taskID)
		d.perform(actions)
		return nil
	})
	return found, err
}

// Tasks answers a task query.
func (d *Daemon) Tasks(_ context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	var list []cluster.TaskStatus
	d.mu.Lock()
	err := d.whole(func() { list = d.replica.Query(q) })
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Record != nil {
			record := *list[i].Record
			record.Received += time.Duration(d.start.UnixNano())
			list[i].Record = &record
		}
	}
	return list, nil
}

// Complete takes a worker's completion notice.
func (d *Daemon) Complete(ctx context.Context, n cluster.CompletionNotice) error {
	return d.changed(ctx, func() error {
		actions, err := d.replica.Completed(d.now(), &n)
		d.perform(actions)
		return err
	})
}

// Push takes a snapshot from the data service.
func (d *Daemon) Push(_ context.Context, s cluster.Snapshot) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, err := d.replica.Push(d.now(), &s)
	d.perform(actions)
	return err
}

// View returns what this replica believes about every node.
func (d *Daemon) View(context.Context) (cluster.ClusterStatus, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	status := d.replica.Status(d.now())
	status.Schedulers = []cluster.SchedulerRef{d.self}
	return status, nil
}

// Settle sends the delta now, whatever the batch holds, and returns when the data service has it.
func (d *Daemon) Settle(ctx context.Context) error {
	d.mu.Lock()
	d.perform(d.replica.Settle(d.now()))
	d.mu.Unlock()
	return d.data.flushed(ctx)
}

// Setup returns what this process runs. It fails with cluster.Draining when that is over.
func (d *Daemon) Setup(context.Context) (cluster.Setup, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaving {
		return cluster.Setup{}, cluster.Errorf(cluster.Draining, "scheduler %s is about to end, or to start anew", d.self.Name)
	}
	s := d.cfg.Setup
	s.Incarnation, s.Batch = d.self.Incarnation, d.cfg.Replica.DeltaBatch
	return s, nil
}

// Counters returns RPCs by kind and the replica's own counts.
func (d *Daemon) Counters(context.Context) (map[string]int64, error) {
	counts := d.counters.Map()
	d.mu.Lock()
	s := d.replica.Statistics()
	d.mu.Unlock()
	counts["incarnation"] = d.self.Incarnation
	counts["decisions"] = s.Decisions
	counts["retries"] = s.Retries
	counts["refused"] = s.Refused
	for code := cluster.NoFeasibleNode; code <= cluster.NotAllowed; code++ {
		counts["refused."+code.Label()] = s.Refusals[code]
	}
	for _, why := range scheduler.Denials() {
		counts["denied."+why.String()] = s.Denied[why]
	}
	counts["pending"] = int64(s.Pending)
	counts["retained"] = int64(s.Retained)
	counts["expired_results"] = s.Expired
	counts["nodes"] = int64(s.Nodes)
	counts["candidates"] = int64(s.Candidates)
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		counts["tasks."+o.String()] = s.Outcomes[o]
	}
	return counts, nil
}
