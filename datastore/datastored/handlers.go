package datastored

import (
	"context"

	"dodoor/internal/cluster"
	"dodoor/internal/telemetry"
)

// RegisterNode admits a worker.
func (d *Daemon) RegisterNode(_ context.Context, n cluster.Node) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.store.RegisterNode(d.now(), n); err != nil {
		return 0, err
	}
	return d.store.Incarnation(), nil
}

// UnregisterNode removes a worker.
func (d *Daemon) UnregisterNode(_ context.Context, name string, incarnation int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store.UnregisterNode(name, incarnation)
	return nil
}

// RegisterScheduler admits a scheduler and returns a whole snapshot for it.
func (d *Daemon) RegisterScheduler(_ context.Context, ref cluster.SchedulerRef) (cluster.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	snapshot, err := d.store.RegisterScheduler(ref)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	d.connect(ref)
	return snapshot, nil
}

// UnregisterScheduler stops pushing to a scheduler.
func (d *Daemon) UnregisterScheduler(_ context.Context, name string, incarnation int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store.UnregisterScheduler(name, incarnation) {
		d.disconnect(name)
	}
	return nil
}

// CheckScheduler tells a scheduler whether it is still the one registered under its name.
func (d *Daemon) CheckScheduler(_ context.Context, name string, incarnation int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.CheckScheduler(d.now(), name, incarnation)
}

// Flush merges a scheduler's delta; a full batch starts a push.
func (d *Daemon) Flush(_ context.Context, delta cluster.Delta) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, err := d.store.Flush(d.now(), &delta)
	if err != nil {
		return 0, err
	}
	d.perform(actions)
	return d.store.Incarnation(), nil
}

// Report merges a worker's report.
func (d *Daemon) Report(_ context.Context, r cluster.Report) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.Report(d.now(), &r)
}

// Status describes the cluster: every node with its aggregate, and the schedulers.
func (d *Daemon) Status(context.Context) (cluster.ClusterStatus, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.Status(d.now()), nil
}

// Settle pushes to every scheduler now and returns when they have answered.
func (d *Daemon) Settle(ctx context.Context) error {
	d.mu.Lock()
	actions, asked := d.store.Settle(d.now())
	d.perform(actions)
	d.mu.Unlock()
	if err := d.settled(ctx, asked); err != nil {
		return err
	}
	if d.running.Err() != nil {
		return cluster.Errorf(cluster.Draining, "the data service is stopping")
	}
	return nil
}

// Setup returns what this process runs.
func (d *Daemon) Setup(context.Context) (cluster.Setup, error) {
	s := d.cfg.Setup
	s.Incarnation, s.Batch = d.store.Incarnation(), int(d.cfg.Store.Batch)
	return s, nil
}

// Counters returns RPCs by kind and the store's own counts.
func (d *Daemon) Counters(context.Context) (map[string]int64, error) {
	counts := d.counters.Map()
	d.mu.Lock()
	defer d.mu.Unlock()
	counts["incarnation"] = d.store.Incarnation()
	counts["decisions"] = d.store.Decisions()
	counts["nodes"] = int64(d.store.Nodes())
	counts["schedulers"] = int64(len(d.receivers))
	counts["skipped_pushes"] = d.store.Skipped()
	return counts, nil
}

// measure declares the live metrics.
func (d *Daemon) measure(r *telemetry.Registry) {
	locked := func(read func() float64) func() float64 {
		return func() float64 {
			d.mu.Lock()
			defer d.mu.Unlock()
			return read()
		}
	}
	r.Gauge("nodes", "Registered workers.", locked(func() float64 { return float64(d.store.Nodes()) }))
	r.Gauge("schedulers", "Registered schedulers.", locked(func() float64 { return float64(len(d.receivers)) }))
	r.Gauge("skipped_pushes", "Pushes that a busy scheduler did not get.", locked(func() float64 { return float64(d.store.Skipped()) }))
	r.OnCollect("decisions_total", "Cluster-wide scheduling decisions.", nil, func(set telemetry.SetFunc) {
		d.mu.Lock()
		n := d.store.Decisions()
		d.mu.Unlock()
		set(float64(n))
	})
	telemetry.RPCs(r, d.counters.Map)
}
