package workerd

import (
	"context"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/worker"
)

// Attach opens or resumes a scheduler's stream of placements.
func (d *Daemon) Attach(_ context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	reply, actions, err := d.node.Attach(d.now(), s)
	d.perform(actions)
	return reply, err
}

// Claim tells a scheduler that restarted what became of its placements.
func (d *Daemon) Claim(_ context.Context, q cluster.ClaimRequest) ([]cluster.Holding, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.node.Claim(&q)
}

// Enqueue takes placements.
func (d *Daemon) Enqueue(_ context.Context, e cluster.Enqueue) (cluster.EnqueueReply, error) {
	d.judge(&e)
	d.mu.Lock()
	defer d.mu.Unlock()
	reply, actions, err := d.node.Enqueue(d.now(), &e)
	d.perform(actions)
	return reply, err
}

// Probe answers with the number of uncompleted tasks, a latency estimate and the pending duration.
func (d *Daemon) Probe(context.Context, string, cluster.Resources) (cluster.ProbeReply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.node.Probe(d.now()), nil
}

// Cancel ends a task, or what a scheduler has of it; false: it is not held here, not for that scheduler, or has ended.
func (d *Daemon) Cancel(ctx context.Context, taskID, scheduler string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, found := d.node.Cancel(d.now(), rpc.Asker(ctx), taskID, scheduler)
	d.perform(actions)
	return found, nil
}

// Drain makes the worker refuse new placements, or take them again; what it holds goes on.
func (d *Daemon) Drain(_ context.Context, draining bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaving && !draining {
		return cluster.Errorf(cluster.Draining, "worker %s is shutting down", d.self.Name)
	}
	d.drained = draining
	d.perform(d.node.Drain(d.closed()))
	d.log.Info("drain", "on", draining)
	return nil
}

// Tasks answers a task query.
func (d *Daemon) Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error) {
	q.For = rpc.Asker(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.node.Tasks(q), nil
}

// State returns a report.
func (d *Daemon) State(context.Context) (cluster.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.node.Report(d.now()), nil
}

// Setup returns what this process runs.
func (d *Daemon) Setup(context.Context) (cluster.Setup, error) {
	s := d.cfg.Setup
	s.Incarnation = d.self.Incarnation
	return s, nil
}

// Counters returns RPCs by kind and the node's own counts.
func (d *Daemon) Counters(context.Context) (map[string]int64, error) {
	counts := d.counters.Map()
	s := d.stats()
	counts["incarnation"] = d.self.Incarnation
	counts["accepted"] = s.Counts.Accepted
	counts["refused"] = s.Counts.Refused
	for code := cluster.NoFeasibleNode; code <= cluster.NotAllowed; code++ {
		counts["refused."+code.Label()] = s.Counts.Refusals[code]
	}
	counts["repeated"] = s.Counts.Repeated
	counts["expired_results"] = s.Counts.Dropped
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		counts["tasks."+o.String()] = s.Counts.Outcomes[o]
	}
	return counts, nil
}

func (d *Daemon) stats() worker.Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.node.Stats(d.now())
}

// measure declares the live metrics.
func (d *Daemon) measure(r *telemetry.Registry) {
	dims := d.cfg.Node.Dimensions
	r.Gauge("queued_tasks", "Tasks that wait, the head of the line included.", func() float64 { return float64(d.stats().Queued) })
	r.Gauge("running_tasks", "Tasks that run.", func() float64 { return float64(d.stats().Running) })
	r.OnCollect("utilisation_ratio", "Reserved share of the capacity.", []string{"dimension"}, func(set telemetry.SetFunc) {
		s := d.stats()
		for k := range dims.Len() {
			if s.Capacity[k] > 0 {
				set(float64(s.Reserved[k])/float64(s.Capacity[k]), dims.Name(k))
			}
		}
	})
	r.OnCollect("capacity", "What the node has: thousandths of a core or extra, MiB.", []string{"dimension"}, func(set telemetry.SetFunc) {
		s := d.stats()
		for k := range dims.Len() {
			set(float64(s.Capacity[k]), dims.Name(k))
		}
	})
	r.OnCollect("blocked_seconds_total", "Time in which the head of the line could not start.", nil, func(set telemetry.SetFunc) {
		set(d.stats().Blocked.Seconds())
	})
	r.OnCollect("refusals_total", "Placements that were refused, by code.", []string{"reason"}, func(set telemetry.SetFunc) {
		s := d.stats()
		for code := cluster.NoFeasibleNode; code <= cluster.NotAllowed; code++ {
			set(float64(s.Counts.Refusals[code]), code.Label())
		}
	})
	r.OnCollect("events_total", "Placements taken, refused and repeated, and tasks by terminal state.", []string{"event"}, d.events)
	telemetry.RPCs(r, d.counters.Map)
}

func (d *Daemon) events(set telemetry.SetFunc) {
	c := d.stats().Counts
	set(float64(c.Accepted), "accepted")
	set(float64(c.Refused), "refused")
	set(float64(c.Repeated), "repeated")
	set(float64(c.Dropped), "result-expired")
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		set(float64(c.Outcomes[o]), o.String())
	}
}
