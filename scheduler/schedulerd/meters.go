package schedulerd

import (
	"dodoor/internal/cluster"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
)

// meters are the scheduler's live metrics.
type meters struct {
	decision   telemetry.Histogram
	scheduling telemetry.Histogram
	makespan   telemetry.Histogram
	sync       telemetry.Histogram // only with a journal
}

func (d *Daemon) newMeters(r *telemetry.Registry) *meters {
	m := &meters{
		decision:   r.Histogram("decision_seconds", "Time to place one task from the cached view."),
		scheduling: r.Histogram("scheduling_seconds", "From receiving a task to its worker's acknowledgement."),
		makespan:   r.Histogram("makespan_seconds", "End-to-end latency: from receiving a task to knowing that it finished."),
	}
	statistic := func(name, help string, read func(s scheduler.Statistics) float64) {
		r.Gauge(name, help, func() float64 {
			d.mu.Lock()
			defer d.mu.Unlock()
			return read(d.replica.Statistics())
		})
	}
	statistic("pending_tasks", "Accepted tasks that have not ended.", func(s scheduler.Statistics) float64 { return float64(s.Pending) })
	statistic("retained_results", "Ended tasks kept for collectors and queries.",
		func(s scheduler.Statistics) float64 { return float64(s.Retained) })
	statistic("nodes", "Registered workers.", func(s scheduler.Statistics) float64 { return float64(s.Nodes) })
	statistic("candidates", "Workers that take placements.", func(s scheduler.Statistics) float64 { return float64(s.Candidates) })
	statistic("view_age_decisions", "Own placements since the newest snapshot arrived.",
		func(s scheduler.Statistics) float64 { return float64(s.SinceSnapshot) })
	r.Gauge("view_age_seconds", "Time since the newest snapshot arrived.", func() float64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return (d.now() - d.replica.View().Fresh).Seconds()
	})
	if d.cfg.Journal != "" {
		m.sync = r.Histogram("journal_sync_seconds", "Time to write one group of changes to the journal, until it is durable.")
		r.Gauge("journal_bytes", "Size of the journal's files.", func() float64 { return float64(d.record.journal.Bytes()) })
		r.Gauge("journal_keys", "What the journal holds: tasks, results, jobs.", func() float64 { return float64(d.record.journal.Keys()) })
	}
	statistic("view_stale", "1: the view is too old, and shows what this scheduler placed itself.", func(s scheduler.Statistics) float64 {
		if s.Stale {
			return 1
		}
		return 0
	})
	telemetry.RPCs(r, d.counters.Map)
	r.OnCollect("refusals_total", "Tasks that were refused, by code, and whole submissions, by reason.", []string{"of", "reason"}, d.refusals)
	r.OnCollect("events_total", "Decisions, retries and tasks by terminal state.", []string{"event"}, d.events)
	return m
}

// refusals publishes what the replica did not take, and why.
func (d *Daemon) refusals(set telemetry.SetFunc) {
	d.mu.Lock()
	s := d.replica.Statistics()
	d.mu.Unlock()
	for code := cluster.NoFeasibleNode; code <= cluster.NotAllowed; code++ {
		set(float64(s.Refusals[code]), "task", code.Label())
	}
	for _, why := range scheduler.Denials() {
		set(float64(s.Denied[why]), "submission", why.String())
	}
}

// events publishes the replica's cumulative counts.
func (d *Daemon) events(set telemetry.SetFunc) {
	d.mu.Lock()
	s := d.replica.Statistics()
	d.mu.Unlock()
	set(float64(s.Decisions), "decision")
	set(float64(s.Retries), "retry")
	set(float64(s.Refused), "refused")
	set(float64(s.Expired), "result-expired")
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		set(float64(s.Outcomes[o]), o.String())
	}
}
