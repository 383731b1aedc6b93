package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) query(q *cluster.TaskQuery) *dodoor.TaskQuery {
	return &dodoor.TaskQuery{ID: optional(&q.ID), Max: narrow(int64(q.Max)), After: optional(&q.After), Job: optional(&q.Job),
		Ended: &q.Ended, Ids: q.IDs, Answering: q.Answering}
}

// taskID checks the one argument of a cancellation.
func (d *decoder) taskID(w string) string { return d.name("task_id", &w) }

// cancellation is the arguments of a worker's Cancel.
type cancellation struct{ taskID, scheduler string }

func (d *decoder) cancellation(w cancellation) cancellation {
	return cancellation{d.taskID(w.taskID), d.optionalName("scheduler", &w.scheduler)}
}

// names checks a list of ids or names.
func (d *decoder) names(field string, w []string) []string {
	d.length(field, len(w), maxItems)
	for _, name := range w {
		if d.err == nil {
			d.name(field, &name)
		}
	}
	return w
}

// query returns a task query. Max says how many tasks to return; with ids it may be left out.
func (d *decoder) query(w *dodoor.TaskQuery) (q cluster.TaskQuery) {
	if w == nil {
		d.missing("query")
		return q
	}
	q = cluster.TaskQuery{ID: d.optionalName("id", w.ID), IDs: d.names("ids", w.Ids), After: d.optionalName("after", w.After),
		Job: d.optionalName("job", w.Job), Ended: flag(w.Ended), Answering: d.names("answering", w.Answering)}
	if q.ID == "" && len(q.IDs) == 0 || w.Max != nil {
		q.Max = d.int32("max", w.Max, 0, maxItems)
	}
	return q
}

func (e encoder) taskStatuses(tasks []cluster.TaskStatus) []*dodoor.TaskStatus {
	messages := make([]*dodoor.TaskStatus, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		phase := dodoor.Phase(t.Phase)
		messages[i] = &dodoor.TaskStatus{
			ID: &t.ID, TaskType: &t.Type, Mode: optional(&t.Mode), Phase: &phase,
			Node: optional(&t.Node), Scheduler: optional(&t.Scheduler), Job: optional(&t.Job), Attempt: narrow(int64(t.Attempt)),
			User: optional(&t.User),
		}
		if t.Job != "" {
			messages[i].Index = &t.Index
		}
		if t.Phase == cluster.Queued {
			messages[i].Ahead = &t.Ahead
		}
		if t.Record != nil {
			f := newFigures(1, 7, 2)
			messages[i].Record = e.record(&recordMessage{}, &f, t.Record)
		}
	}
	return messages
}

func (d *decoder) taskStatuses(w []*dodoor.TaskStatus) []cluster.TaskStatus {
	if d.length("tasks", len(w), maxItems) == 0 {
		return nil
	}
	tasks := make([]cluster.TaskStatus, len(w))
	for i, m := range w {
		d.enter("tasks", i)
		tasks[i] = d.taskStatus(m)
		d.leave()
	}
	return tasks
}

func (d *decoder) taskStatus(w *dodoor.TaskStatus) cluster.TaskStatus {
	t := cluster.TaskStatus{
		ID: d.name("id", w.ID), Type: d.name("task_type", w.TaskType), Mode: d.optionalName("mode", w.Mode),
		Phase: enum(d, "phase", w.Phase, cluster.Ended),
		Node:  d.optionalName("node", w.Node), Scheduler: d.optionalName("scheduler", w.Scheduler),
		Job: d.optionalName("job", w.Job), User: d.optionalName("user", w.User),
	}
	if w.Index != nil {
		t.Index = d.count("index", w.Index)
	}
	if w.Ahead != nil {
		t.Ahead = d.count("ahead", w.Ahead)
	}
	if w.Attempt != nil {
		t.Attempt = d.int32("attempt", w.Attempt, 0, math.MaxInt32)
	}
	if w.Record != nil {
		d.enter("record", -1)
		record := d.record(w.Record)
		t.Record = &record
		d.leave()
	}
	return t
}

// counters checks a reply of counters, whose names are the peer's business.
func (d *decoder) counters(w map[string]int64) map[string]int64 {
	d.length("counters", len(w), maxItems)
	for name := range w {
		d.checkName("counters", name)
	}
	return w
}
