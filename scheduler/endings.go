package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Completed takes a worker's completion notice. The first terminal state of a task wins, whichever
// attempt it comes from. It fails with cluster.Stale when the notice is for an earlier process of this
// scheduler's name.
func (r *Replica) Completed(now time.Duration, n *cluster.CompletionNotice) (*Actions, error) {
	r.begin()
	if n.SchedulerIncarnation != r.cfg.Incarnation {
		return &r.actions, cluster.Errorf(cluster.Stale, "completions are for incarnation %d of scheduler %s; this is %d",
			n.SchedulerIncarnation, r.cfg.Name, r.cfg.Incarnation)
	}
	index, known := r.nodes.byName[n.Node]
	if known {
		r.ride(index, n.Report)
	}
	for i := range n.Completions {
		c := &n.Completions[i]
		t := r.tasks[c.TaskID]
		if t == nil {
			continue
		}
		on, ours := r.placement(t, n.Node, n.NodeIncarnation, c.Number)
		if !ours {
			continue
		}
		current := known && int(t.node) == index && t.number == c.Number && r.nodes.slots[index].Incarnation == n.NodeIncarnation
		if current {
			r.endedThere(t)
		}
		r.completed(now, t, c, current, on)
	}
	r.retryJobs(now)
	return &r.actions, nil
}

// placement returns the placement of a task that a worker process says has ended; false: it is none that may end.
func (r *Replica) placement(t *task, worker string, incarnation, number int64) (placedOn, bool) {
	is := func(p placedOn) bool {
		return p.number == number && p.incarnation == incarnation && r.workers.name(p.worker) == worker
	}
	if t.number > 0 {
		if latest := r.placed(t); is(latest) {
			return latest, true
		}
	}
	if t.trouble != nil {
		if at := slices.IndexFunc(t.trouble.earlier, is); at >= 0 {
			return t.trouble.earlier[at], true
		}
	}
	return placedOn{}, false
}

func (r *Replica) completed(now time.Duration, t *task, c *cluster.Completion, current bool, on placedOn) {
	switch {
	case c.Outcome == cluster.Lost:
		r.abandoned(now, t, c, current)
		return
	case c.Outcome == cluster.Cancelled && !t.cancel && !t.stopped():
		r.abandoned(now, t, &cluster.Completion{TaskID: c.TaskID, Number: c.Number, Outcome: cluster.Lost, ExitCode: -1, Wait: c.Wait,
			Run: c.Run, Reason: "worker " + r.workers.name(on.worker) + " stopped it, and nobody here had asked for that"}, current)
		return
	}
	r.learnFrom(t, c, on, current)
	if r.retries(t, c) {
		r.retry(now, t, c, current, on)
		return
	}
	elsewhere := CancelCall{Node: int(t.node), TaskID: t.spec.ID, Over: true}
	runs := !current && (t.phase == cluster.Sent || t.phase == cluster.Accepted)
	if !current {
		t.worker, t.accepted = on.worker, 0
	}
	ended := *c
	if ended.Outcome == cluster.Cancelled && t.stopped() {
		ended.Reason = t.batch.job.why
	}
	if r.end(now, t, ended); runs {
		r.stop(elsewhere)
	}
}

// retries reports whether a task runs again after an execution that failed. One that must not run twice does not.
func (r *Replica) retries(t *task, c *cluster.Completion) bool {
	j := t.batch.job
	if j == nil || c.Outcome != cluster.Failed && c.Outcome != cluster.TimedOut || t.cancel || t.stopped() || t.spec.AtMostOnce {
		return false
	}
	return t.trouble == nil && j.Retries > 0 || t.trouble != nil && t.trouble.failures < j.Retries
}

// retry runs a task again. What failed was perhaps not its latest placement: then that one is its next try.
func (r *Replica) retry(now time.Duration, t *task, c *cluster.Completion, current bool, on placedOn) {
	x := t.troubled()
	x.failures++
	r.journal.changed(t)
	if current { // else it counted when its machine was given up
		r.ranBefore(t)
	}
	if t.number == on.number && t.incarnation == on.incarnation && t.worker == on.worker {
		t.number = 0
	} else {
		x.earlier = slices.DeleteFunc(x.earlier, func(p placedOn) bool { return p == on })
	}
	if !current {
		return
	}
	if c.OutOfMemory {
		r.relearn(t)
	}
	t.spec.Attempt++
	t.spec.Tried = nil
	t.phase, t.node = cluster.Placing, NoNode
	x.reason = "worker " + r.workers.name(on.worker) + ": " + c.Reason
	r.placeAgain(now, t)
}

// abandoned handles a worker that gave a task up while shutting down: it runs elsewhere, unless it had
// started and must not run twice. One that had not started lost nothing.
func (r *Replica) abandoned(now time.Duration, t *task, c *cluster.Completion, current bool) {
	switch {
	case !current:
	case t.spec.AtMostOnce && c.Run > 0:
		r.end(now, t, *c)
	default:
		r.replace(now, t, c.Reason, c.Run > 0)
	}
}

func lost(reason string) cluster.Completion {
	return cluster.Completion{Outcome: cluster.Lost, Reason: reason, ExitCode: -1}
}

func failed(reason string) cluster.Completion {
	return cluster.Completion{Outcome: cluster.Failed, Reason: reason, ExitCode: -1}
}

// cancelled is the end of a task that no worker holds.
func (t *task) cancelled() cluster.Completion {
	c := cluster.Completion{Outcome: cluster.Cancelled, ExitCode: -1, Reason: "cancelled by request"}
	if t.stopped() {
		c.Reason = t.batch.job.why
	}
	return c
}

// stopped reports whether the task's job has failed as a whole.
func (t *task) stopped() bool { return t.batch.job != nil && t.batch.job.why != "" }

// end brings a task to its terminal state and keeps the record for its client.
func (r *Replica) end(now time.Duration, t *task, c cluster.Completion) {
	record := r.results.add(now, t.batch.collector(), t.spec.ID, t.inJob())
	shape := r.shape(t)
	*record = cluster.TaskRecord{
		ID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode,
		Scheduler: r.cfg.Name, Worker: r.workers.name(t.worker),
		Demand: shape.Demand, Estimate: shape.Duration,
		Received: t.received, Wait: c.Wait, Run: c.Run, Makespan: r.makespan(now, t, &c),
		Attempts: int(t.attempts), Outcome: c.Outcome, ExitCode: c.ExitCode, Reason: c.Reason,
		Measured: c.Measured, ViewDecisions: t.view, User: t.batch.user,
	}
	if t.worker != 0 {
		record.Class = r.catalog.ClassName(r.workers.class(t.worker))
	}
	record.Scheduling = t.scheduling(record)
	if c.Outcome == cluster.Finished {
		r.actions.Finished = append(r.actions.Finished, record.Makespan)
	}
	t.phase = cluster.Ended
	if t.cancel {
		r.cancelling--
	}
	r.drop(t)
	r.keepResult(now, t.batch.client, t.inJob(), r.results.last, record)
	r.journal.closed(t)
	r.pending--
	r.results.closed(t.batch.collector())
	r.bytes -= len(t.entries)
	r.stats.Outcomes[c.Outcome]++
	r.actions.Wake = r.actions.Wake || t.batch.client != ""
	if j := t.batch.job; j != nil {
		over := r.jobs.ended(now, t, &c)
		r.actions.Wake = r.actions.Wake || over
		r.keepEntry(j, t.index)
	}
	r.templates.release(t.batch.template)
	r.experience.release(t.batch)
	r.recycle(t)
}

// makespan is the time from receiving a task to knowing its end. What an earlier process received has the time of another clock, which
// may have been set back since: it took at least as long as its parts.
func (r *Replica) makespan(now time.Duration, t *task, c *cluster.Completion) time.Duration {
	if r.journal.on {
		return max(now-t.received, c.Wait+c.Run)
	}
	return now - t.received
}

// scheduling is the time from receiving a task to its worker's acknowledgement. A short task's
// completion can overtake the acknowledgement; then it is what the worker does not account for.
func (t *task) scheduling(record *cluster.TaskRecord) time.Duration {
	if t.accepted > 0 {
		return t.accepted - t.received
	}
	return max(record.Makespan-record.Wait-record.Run, 0)
}

// infeasible explains why no node can take a task: the dimension that is short everywhere and the
// largest capacity in it.
func (r *Replica) infeasible(placing *task) *cluster.Refusal {
	t, v, dims := &placing.spec, r.view, r.cfg.Dimensions
	if r.isBarred(placing) {
		return refuse(t.ID, cluster.NotAllowed, "%s", placing.batch.bar.why)
	}
	if r.meetsBar(placing) {
		return refuse(t.ID, cluster.NoFeasibleNode, "of the workers that take placements now none allows it (%s); others may later",
			placing.batch.bar.why)
	}
	if len(v.candidates) == 0 {
		return refuse(t.ID, cluster.NoFeasibleNode, "no worker takes placements now (%d registered)", len(r.nodes.byName))
	}
	for k := range dims.Len() {
		least, largest, split, fits := int64(-1), int64(0), int64(0), false
		for _, i := range v.candidates {
			n := &v.nodes[i]
			shape, ok := t.ShapeOn(n.Class)
			if !ok {
				continue
			}
			switch {
			case shape.Demand[k] > n.Capacity[k]:
			case cluster.SplitsDevices(k, shape.Demand[k], n.Capacity[k]):
				split = shape.Demand[k]
			default:
				fits = true
			}
			largest = max(largest, n.Capacity[k])
			if least < 0 || shape.Demand[k] < least {
				least = shape.Demand[k]
			}
		}
		if split > 0 && !fits {
			return refuse(t.ID, cluster.NoFeasibleNode, "%s: %s", dims.Name(k), dims.SplitRule(k, split))
		}
		if least >= 0 && !fits {
			return refuse(t.ID, cluster.NoFeasibleNode, "%s: the task needs %s, the largest capacity is %s",
				dims.Name(k), dims.Format(k, least), dims.Format(k, largest))
		}
	}
	return refuse(t.ID, cluster.NoFeasibleNode, "no single node has enough of every resource, or its class runs task type %q mode %q", t.Type,
		t.Mode)
}
