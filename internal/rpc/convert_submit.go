package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// taskMessage holds a TaskSpec and what it points to.
type taskMessage struct {
	task   dodoor.TaskSpec
	demand dodoor.Amounts
}

func (e encoder) submit(r *cluster.SubmitRequest) *dodoor.SubmitRequest {
	messages := make([]taskMessage, len(r.Tasks))
	tasks := make([]*dodoor.TaskSpec, len(r.Tasks))
	for i := range r.Tasks {
		tasks[i] = e.task(&messages[i], &r.Tasks[i])
	}
	w := &dodoor.SubmitRequest{Client: optional(&r.Client), Tasks: tasks, Job: e.job(r.Job)}
	if r.Incarnation != 0 {
		w.Incarnation = &r.Incarnation
	}
	return w
}

func (e encoder) task(w *taskMessage, t *cluster.TaskSpec) *dodoor.TaskSpec {
	w.task = dodoor.TaskSpec{
		ID: &t.ID, TaskType: optional(&t.Type), Mode: optional(&t.Mode), DurationMs: t.Duration,
		AtMostOnce: &t.AtMostOnce, TimeScale: &t.TimeScale, Command: e.command(t.Command),
	}
	if t.LearnCores {
		w.task.LearnCores = &t.LearnCores
	}
	if t.LearnMemory {
		w.task.LearnMemory = &t.LearnMemory
	}
	if t.Demand != nil {
		w.task.Demand = e.amounts(&w.demand, t.Demand)
	}
	return &w.task
}

// submit returns the tasks that are valid, and a refusal for each that is not. A task without a
// usable id fails the message as a whole, since no refusal could name it.
func (d *decoder) submit(w *dodoor.SubmitRequest) (r cluster.SubmitRequest, refused []cluster.Refusal) {
	if w == nil {
		d.missing("request")
		return r, nil
	}
	if w.Job != nil {
		job := d.job(w.Job)
		job.User = "" // whoever calls is its user, and nobody whom a message names
		r.Job, r.Client = &job, d.optionalName("client", w.Client)
	} else {
		r.Client = d.name("client", w.Client)
	}
	if w.Incarnation != nil {
		r.Incarnation = d.incarnation("incarnation", w.Incarnation)
	}
	r.Tasks = make([]cluster.TaskSpec, 0, d.length("tasks", len(w.Tasks), maxItems))
	figures := make([]figures, cap(r.Tasks))
	for i := range figures {
		d.enter("tasks", i)
		t := cluster.TaskSpec{ID: d.name("id", w.Tasks[i].ID)}
		if d.err != nil {
			return r, nil
		}
		d.task(w.Tasks[i], &t, &figures[i])
		d.leave()
		if d.err != nil {
			refused = append(refused, cluster.Refusal{TaskID: t.ID, Code: cluster.InvalidTask, Message: d.err.Error()})
			d.err = nil
			continue
		}
		r.Tasks = append(r.Tasks, t)
	}
	return r, refused
}

// submission is a submit request: the valid tasks, and refusals of the others.
type submission struct {
	request cluster.SubmitRequest
	invalid []cluster.Refusal
}

func (d *decoder) submission(w *dodoor.SubmitRequest) (s submission) {
	s.request, s.invalid = d.submit(w)
	return s
}

// figures is what the pointers of one TaskSpec point to.
type figures struct {
	demand   cluster.Resources
	duration int64
}

func (d *decoder) task(w *dodoor.TaskSpec, t *cluster.TaskSpec, f *figures) {
	if w.Command != nil {
		t.Type, t.Command = cluster.CommandType, d.command(w.Command)
	} else {
		t.Type = d.name("task_type", w.TaskType)
	}
	t.Mode = d.optionalName("mode", w.Mode)
	if w.Demand != nil {
		f.demand = d.amounts("demand", w.Demand, amount)
		t.Demand = &f.demand
	}
	if w.DurationMs != nil {
		f.duration = d.between("duration_ms", w.DurationMs, 0, cluster.MaxDuration)
		t.Duration = &f.duration
	}
	t.LearnCores, t.LearnMemory = flag(w.LearnCores), flag(w.LearnMemory)
	t.AtMostOnce = flag(w.AtMostOnce)
	t.TimeScale = d.timeScale("time_scale", w.TimeScale)
}

// timeScale returns how many trace seconds pass in one; absent or 0 is real time.
func (d *decoder) timeScale(field string, v *float64) float64 {
	if v == nil || *v == 0 {
		return 1
	}
	if !(*v >= 1 && *v <= cluster.MaxTimeScale) { // NaN is neither
		d.fail(field, "is %g: must be from 1 to %g", *v, float64(cluster.MaxTimeScale))
		return 1
	}
	return *v
}

func (e encoder) submitReply(refused []cluster.Refusal) *dodoor.SubmitReply {
	return &dodoor.SubmitReply{Refused: e.refusals(refused)}
}

func (d *decoder) submitReply(w *dodoor.SubmitReply) []cluster.Refusal {
	return d.refusals(w.Refused, 0)
}

func (e encoder) refusals(refused []cluster.Refusal) []*dodoor.Refusal {
	if len(refused) == 0 {
		return nil
	}
	messages := make([]*dodoor.Refusal, len(refused))
	for i := range refused {
		r := &refused[i]
		code := dodoor.RefusalCode(r.Code)
		messages[i] = &dodoor.Refusal{TaskID: &r.TaskID, Code: &code, Message: optionalText(r.Message)}
		if r.Number != 0 {
			messages[i].Number = &r.Number
		}
	}
	return messages
}

// refusals returns the refused tasks; those of an enqueue carry their placement's number (lowest 1).
func (d *decoder) refusals(w []*dodoor.Refusal, lowest int64) []cluster.Refusal {
	if d.length("refused", len(w), maxItems) == 0 {
		return nil
	}
	refused := make([]cluster.Refusal, len(w))
	for i, m := range w {
		d.enter("refused", i)
		refused[i] = cluster.Refusal{
			TaskID: d.name("task_id", m.TaskID), Code: enum(d, "code", m.Code, cluster.NotAllowed),
			Message: d.text("message", m.Message),
		}
		if m.Number != nil || lowest > 0 {
			refused[i].Number = d.between("number", m.Number, lowest, math.MaxInt64)
		}
		d.leave()
	}
	return refused
}
