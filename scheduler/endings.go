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
		at := slices.IndexFunc(t.placed, func(p placedOn) bool {
			return p.worker == n.Node && p.incarnation == n.NodeIncarnation && p.number == c.Number
		})
		if at < 0 {
			continue // not a placement of ours
		}
		current := known && t.node == index && t.number == c.Number && r.nodes.slots[index].Incarnation == n.NodeIncarnation
		r.completed(now, t, c, current, &t.placed[at])
	}
	return &r.actions, nil
}

func (r *Replica) completed(now time.Duration, t *task, c *cluster.Completion, current bool, on *placedOn) {
	if c.Outcome == cluster.Lost {
		r.abandoned(now, t, c, current)
		return
	}
	if !current {
		if t.phase == cluster.Sent || t.phase == cluster.Accepted {
			r.actions.Cancel = append(r.actions.Cancel, CancelCall{t.node, t.spec.ID})
		}
		t.worker, t.class, t.accepted = on.worker, on.class, 0
		t.shape, _ = t.spec.ShapeOn(on.class)
	}
	r.end(now, t, *c)
}

// abandoned handles a worker that gave a task up while shutting down: it runs elsewhere, unless it had
// started and must not run twice.
func (r *Replica) abandoned(now time.Duration, t *task, c *cluster.Completion, current bool) {
	switch {
	case !current:
	case t.spec.AtMostOnce && c.Run > 0:
		r.end(now, t, *c)
	default:
		r.replace(now, t, c.Reason, true)
	}
}

func lost(reason string) cluster.Completion {
	return cluster.Completion{Outcome: cluster.Lost, Reason: reason, ExitCode: -1}
}

// end brings a task to its terminal state and keeps the record for its client.
func (r *Replica) end(now time.Duration, t *task, c cluster.Completion) {
	record := r.results.add(now, t.client, t.spec.ID)
	*record = cluster.TaskRecord{
		ID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode,
		Scheduler: r.cfg.Name, Worker: t.worker,
		Demand: t.shape.Demand, Estimate: t.shape.Duration,
		Received: t.received, Wait: c.Wait, Run: c.Run, Makespan: now - t.received,
		Attempts: t.attempts, Outcome: c.Outcome, ExitCode: c.ExitCode, Reason: c.Reason,
		Measured: c.Measured, ViewDecisions: t.view,
	}
	if t.worker != "" {
		record.Class = r.catalog.ClassName(t.class)
	}
	record.Scheduling = t.scheduling(record)
	if c.Outcome == cluster.Finished {
		r.actions.Finished = append(r.actions.Finished, record.Makespan)
	}
	t.phase = cluster.Ended
	delete(r.tasks, t.spec.ID)
	r.pending--
	r.stats.Outcomes[c.Outcome]++
	r.recycle(t)
	r.actions.Wake = true
}

// scheduling is the time from receiving a task to its worker's acknowledgement. A short task's
// completion can overtake the acknowledgement; then it is what the worker does not account for.
func (t *task) scheduling(record *cluster.TaskRecord) time.Duration {
	if t.accepted > 0 {
		return t.accepted - t.received
	}
	return max(record.Makespan-record.Wait-record.Run, 0)
}

// Cancel asks for a task's end. It is false when the task is unknown or has ended. A task that a
// worker holds ends when the worker says so.
func (r *Replica) Cancel(now time.Duration, id string) (*Actions, bool) {
	r.begin()
	t := r.tasks[id]
	if t == nil {
		return &r.actions, false
	}
	t.cancel = true
	switch t.phase {
	case cluster.Placing:
		r.end(now, t, cancelled)
	case cluster.Accepted:
		r.actions.Cancel = append(r.actions.Cancel, CancelCall{t.node, id})
	}
	return &r.actions, true
}

// infeasible explains why no node can take a task: the dimension that is short everywhere and the
// largest capacity in it.
func (r *Replica) infeasible(t *cluster.Task) *cluster.Refusal {
	v, dims := r.view, r.cfg.Dimensions
	if len(v.candidates) == 0 {
		return refuse(t.ID, cluster.NoFeasibleNode, "no worker takes placements now (%d registered)", len(r.nodes.byName))
	}
	for k := range dims.Len() {
		least, largest, fits := int64(-1), int64(0), false
		for _, i := range v.candidates {
			n := &v.nodes[i]
			shape, ok := t.ShapeOn(n.Class)
			if !ok {
				continue
			}
			fits = fits || shape.Demand[k] <= n.Capacity[k]
			largest = max(largest, n.Capacity[k])
			if least < 0 || shape.Demand[k] < least {
				least = shape.Demand[k]
			}
		}
		if least >= 0 && !fits {
			return refuse(t.ID, cluster.NoFeasibleNode, "%s: the task needs %s, the largest capacity is %s",
				dims.Name(k), dims.Format(k, least), dims.Format(k, largest))
		}
	}
	return refuse(t.ID, cluster.NoFeasibleNode, "no single node has enough of every resource, or its class runs task type %q mode %q", t.Type,
		t.Mode)
}
