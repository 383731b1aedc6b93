package rpc

import (
	"math"
	"time"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) job(j *cluster.Job) *dodoor.Job {
	if j == nil {
		return nil
	}
	return &dodoor.Job{ID: &j.ID, Name: optional(&j.Name), Text: optionalText(j.Text), Tasks: &j.Tasks, SubmittedUnixUs: micros(j.Submitted),
		Retries: narrow(int64(j.Retries)), CrashLimit: narrow(int64(j.CrashLimit)), MaxFails: &j.MaxFails,
		User: optional(&j.User)}
}

// job returns a job, of which the id alone has to be there.
func (d *decoder) job(w *dodoor.Job) cluster.Job {
	if w == nil {
		d.missing("job")
		return cluster.Job{}
	}
	d.enter("job", -1)
	defer d.leave()
	j := cluster.Job{ID: d.name("id", w.ID), Name: d.optionalName("name", w.Name), Text: d.text("text", w.Text),
		User: d.optionalName("user", w.User)}
	if w.Tasks != nil {
		j.Tasks = d.count("tasks", w.Tasks)
	}
	if w.SubmittedUnixUs != nil {
		j.Submitted = d.micros("submitted_unix_us", w.SubmittedUnixUs)
	}
	if w.Retries != nil {
		j.Retries = d.int32("retries", w.Retries, 0, cluster.MaxAgain)
	}
	if w.CrashLimit != nil {
		j.CrashLimit = d.int32("crash_limit", w.CrashLimit, 0, cluster.MaxAgain)
	}
	if w.MaxFails != nil {
		j.MaxFails = d.count("max_fails", w.MaxFails)
	}
	return j
}

// jobID checks the one argument of what is done to a job.
func (d *decoder) jobID(w string) string { return d.name("job", &w) }

func (e encoder) jobQuery(q *cluster.JobQuery) *dodoor.JobQuery {
	return &dodoor.JobQuery{ID: optional(&q.ID), Max: narrow(int64(q.Max)), WaitMs: narrow(q.Wait.Milliseconds())}
}

func (d *decoder) jobQuery(w *dodoor.JobQuery) (q cluster.JobQuery) {
	if w == nil {
		d.missing("query")
		return q
	}
	q.ID = d.optionalName("id", w.ID)
	if q.ID == "" || w.Max != nil {
		q.Max = d.int32("max", w.Max, 0, maxItems)
	}
	if w.WaitMs != nil {
		q.Wait = time.Duration(d.int32("wait_ms", w.WaitMs, 0, maxPollMs)) * time.Millisecond
	}
	return q
}

func (e encoder) jobStatuses(jobs []cluster.JobStatus) []*dodoor.JobStatus {
	messages := make([]*dodoor.JobStatus, len(jobs))
	for i := range jobs {
		s := &jobs[i]
		messages[i] = &dodoor.JobStatus{Job: e.job(&s.Job), Scheduler: optional(&s.Scheduler), Accepted: &s.Accepted,
			Finished: &s.Outcomes[cluster.Finished], Failed: &s.Outcomes[cluster.Failed], TimedOut: &s.Outcomes[cluster.TimedOut],
			Cancelled: &s.Outcomes[cluster.Cancelled], Lost: &s.Outcomes[cluster.Lost], Retried: &s.Retried, EndedUnixUs: micros(s.Ended)}
	}
	return messages
}

func (d *decoder) jobStatuses(w []*dodoor.JobStatus) []cluster.JobStatus {
	if d.length("jobs", len(w), maxItems) == 0 {
		return nil
	}
	jobs := make([]cluster.JobStatus, len(w))
	for i, m := range w {
		d.enter("jobs", i)
		s := cluster.JobStatus{Job: d.job(m.Job), Scheduler: d.optionalName("scheduler", m.Scheduler), Accepted: d.count("accepted", m.Accepted),
			Retried: d.count("retried", m.Retried), Ended: d.micros("ended_unix_us", m.EndedUnixUs)}
		s.Outcomes[cluster.Finished] = d.count("finished", m.Finished)
		s.Outcomes[cluster.Failed] = d.count("failed", m.Failed)
		s.Outcomes[cluster.TimedOut] = d.count("timed_out", m.TimedOut)
		s.Outcomes[cluster.Cancelled] = d.count("cancelled", m.Cancelled)
		s.Outcomes[cluster.Lost] = d.count("lost", m.Lost)
		jobs[i] = s
		d.leave()
	}
	return jobs
}

func (e encoder) jobTaskQuery(q *cluster.JobTaskQuery) *dodoor.JobTaskQuery {
	return &dodoor.JobTaskQuery{Job: &q.Job, FromIndex: &q.From, Max: narrow(int64(q.Max)), Unsuccessful: &q.Unsuccessful}
}

func (d *decoder) jobTaskQuery(w *dodoor.JobTaskQuery) (q cluster.JobTaskQuery) {
	if w == nil {
		d.missing("query")
		return q
	}
	q = cluster.JobTaskQuery{Job: d.name("job", w.Job), Max: d.int32("max", w.Max, 1, maxItems), Unsuccessful: flag(w.Unsuccessful)}
	if w.FromIndex != nil {
		q.From = d.count("from_index", w.FromIndex)
	}
	return q
}

func (e encoder) jobTasks(tasks []cluster.JobTask) []*dodoor.JobTask {
	messages := make([]*dodoor.JobTask, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		messages[i] = &dodoor.JobTask{Index: &t.Index, ID: &t.ID, ExitCode: narrow(int64(t.ExitCode)), Worker: optional(&t.Worker),
			Attempts: narrow(int64(t.Attempts)), RunUs: micros(t.Run), PrintedBytes: &t.Printed, Reason: optionalText(t.Reason), Entries: t.Entries}
		if t.Outcome != cluster.NoOutcome {
			outcome := dodoor.Outcome(t.Outcome)
			messages[i].Outcome = &outcome
		}
	}
	return messages
}

func (d *decoder) jobTasks(w []*dodoor.JobTask) []cluster.JobTask {
	if d.length("tasks", len(w), maxItems) == 0 {
		return nil
	}
	tasks := make([]cluster.JobTask, len(w))
	for i, m := range w {
		d.enter("tasks", i)
		t := cluster.JobTask{Index: d.count("index", m.Index), ID: d.name("id", m.ID), Worker: d.optionalName("worker", m.Worker),
			ExitCode: d.int32("exit_code", m.ExitCode, math.MinInt32, math.MaxInt32), Attempts: d.int32("attempts", m.Attempts, 0, math.MaxInt32),
			Run: d.micros("run_us", m.RunUs), Printed: d.count("printed_bytes", m.PrintedBytes), Reason: d.text("reason", m.Reason),
			Entries: d.entries(m.Entries)}
		if m.Outcome != nil {
			t.Outcome = enum(d, "outcome", m.Outcome, cluster.Lost)
		}
		tasks[i] = t
		d.leave()
	}
	return tasks
}
