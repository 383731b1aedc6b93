package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// assignmentMessage holds an Assignment and what it points to.
type assignmentMessage struct {
	assignment dodoor.Assignment
	demand     dodoor.Amounts
}

// enqueueMessage holds an Enqueue and what it points to, but for its list.
type enqueueMessage struct {
	request   dodoor.EnqueueRequest
	scheduler dodoor.SchedulerRef
	placed    loadMessage
}

func (e encoder) enqueue(q *cluster.Enqueue) *dodoor.EnqueueRequest {
	w := &enqueueMessage{scheduler: schedulerRef(&q.Scheduler)}
	w.request = dodoor.EnqueueRequest{
		Scheduler: &w.scheduler, NodeIncarnation: &q.NodeIncarnation, Number: &q.Number,
		Placed: e.load(&w.placed, &q.Placed),
	}
	if n := len(q.Assignments); n > 0 {
		messages := make([]assignmentMessage, n)
		w.request.Assignments = make([]*dodoor.Assignment, n)
		for i := range q.Assignments {
			w.request.Assignments[i] = e.assignment(&messages[i], &q.Assignments[i])
		}
	}
	return &w.request
}

func (e encoder) assignment(w *assignmentMessage, a *cluster.Assignment) *dodoor.Assignment {
	w.assignment = dodoor.Assignment{
		Number: &a.Number, TaskID: &a.TaskID, TaskType: &a.Type, Mode: optional(&a.Mode),
		Demand: e.amounts(&w.demand, &a.Shape.Demand), DurationMs: &a.Shape.Duration, TimeScale: &a.TimeScale,
		Command: e.command(a.Command), User: optional(&a.User),
	}
	if a.Guessed {
		w.assignment.Guessed = &a.Guessed
	}
	if a.AtMostOnce {
		w.assignment.AtMostOnce = &a.AtMostOnce
	}
	if a.Takes > 0 {
		w.assignment.TakesMs = &a.Takes
	}
	if a.Attempt > 0 {
		w.assignment.Attempt = narrow(int64(a.Attempt))
	}
	return &w.assignment
}

func (d *decoder) enqueue(w *dodoor.EnqueueRequest) (q cluster.Enqueue) {
	if w == nil {
		d.missing("request")
		return q
	}
	q.Scheduler = d.schedulerRef("scheduler", -1, w.Scheduler)
	q.NodeIncarnation = d.incarnation("node_incarnation", w.NodeIncarnation)
	q.Number = d.count("number", w.Number)
	q.Placed = d.load("placed", w.Placed, wrapped)
	n := d.length("assignments", len(w.Assignments), maxItems)
	if n == 0 {
		return q
	}
	q.Assignments = make([]cluster.Assignment, n)
	last := int64(0)
	for i, m := range w.Assignments {
		d.enter("assignments", i)
		d.assignment(m, &q.Assignments[i], last+1, q.Number)
		d.leave()
		if d.err != nil {
			return q
		}
		last = q.Assignments[i].Number
	}
	return q
}

// assignment decodes one placement of an ordered stream: its number follows those before it, and the
// message's own number covers it.
func (d *decoder) assignment(w *dodoor.Assignment, a *cluster.Assignment, low, high int64) {
	a.Number = d.between("number", w.Number, low, high)
	a.TaskID = d.name("task_id", w.TaskID)
	a.Type = d.name("task_type", w.TaskType)
	a.Mode = d.optionalName("mode", w.Mode)
	a.User = d.optionalName("user", w.User)
	a.Shape.Demand = d.amounts("demand", w.Demand, amount)
	a.Shape.Duration = d.between("duration_ms", w.DurationMs, 0, cluster.MaxDuration)
	a.TimeScale = d.timeScale("time_scale", w.TimeScale)
	if w.Command != nil {
		a.Command = d.command(w.Command)
	}
	a.Guessed, a.AtMostOnce = flag(w.Guessed), flag(w.AtMostOnce)
	if w.TakesMs != nil {
		a.Takes = d.between("takes_ms", w.TakesMs, 0, cluster.MaxDuration)
	}
	if w.Attempt != nil {
		a.Attempt = d.int32("attempt", w.Attempt, 0, math.MaxInt32)
	}
}

func (e encoder) enqueueReply(r cluster.EnqueueReply) *dodoor.EnqueueReply {
	return &dodoor.EnqueueReply{Refused: e.refusals(r.Refused), Report: e.report(r.Report)}
}

func (d *decoder) enqueueReply(w *dodoor.EnqueueReply) cluster.EnqueueReply {
	return cluster.EnqueueReply{Refused: d.refusals(w.Refused, 1), Report: d.rider(w.Report)}
}

func (e encoder) attachReply(r cluster.AttachReply) *dodoor.AttachReply {
	return &dodoor.AttachReply{Incarnation: &r.Incarnation, Number: &r.Number, Report: e.report(&r.Report)}
}

func (d *decoder) attachReply(w *dodoor.AttachReply) cluster.AttachReply {
	return cluster.AttachReply{
		Incarnation: d.incarnation("incarnation", w.Incarnation),
		Number:      d.count("number", w.Number),
		Report:      d.report("report", w.Report),
	}
}

func (e encoder) probe(taskID string, demand *cluster.Resources) *dodoor.ProbeRequest {
	return &dodoor.ProbeRequest{TaskID: &taskID, Demand: e.amounts(&dodoor.Amounts{}, demand)}
}

// probe is a probe request: which task asks, and what it wants.
type probe struct {
	taskID string
	demand cluster.Resources
}

func (d *decoder) probe(w *dodoor.ProbeRequest) (p probe) {
	if w == nil {
		d.missing("request")
		return p
	}
	return probe{d.name("task_id", w.TaskID), d.amounts("demand", w.Demand, amount)}
}

func (e encoder) probeReply(r cluster.ProbeReply) *dodoor.ProbeReply {
	return &dodoor.ProbeReply{
		Tasks: &r.Tasks, LatencyUs: optionalSpan(r.Latency, micros), PendingMs: &r.Pending, Report: e.report(r.Report),
	}
}

func (d *decoder) probeReply(w *dodoor.ProbeReply) cluster.ProbeReply {
	r := cluster.ProbeReply{
		Tasks: d.count("tasks", w.Tasks), Latency: -1, Pending: d.count("pending_ms", w.PendingMs),
		Report: d.rider(w.Report),
	}
	if w.LatencyUs != nil {
		r.Latency = d.micros("latency_us", w.LatencyUs)
	}
	return r
}
