package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// pageBytes is about as much as one answer holds, so that it fits into a message.
const pageBytes = 512 << 10

// Jobs returns this replica's share of one job, if it has one, or of up to q.Max jobs, newest first, and as many as fit
// into an answer. Ended is on the replica's clock.
func (r *Replica) Jobs(q *cluster.JobQuery) []cluster.JobStatus {
	if q.ID != "" {
		if j := r.jobs.byID[q.ID]; j != nil {
			return []cluster.JobStatus{r.jobStatus(j)}
		}
		return nil
	}
	var list []cluster.JobStatus
	size := 0
	for e := r.jobs.made.Back(); e != nil && len(list) < q.Max && size < pageBytes; e = e.Prev() {
		j := e.Value.(*job)
		list = append(list, r.jobStatus(j))
		size += 100 + len(j.ID) + len(j.Name) + len(j.Text)
	}
	return list
}

func (r *Replica) jobStatus(j *job) cluster.JobStatus {
	return cluster.JobStatus{Job: j.Job, Scheduler: r.cfg.Name, Accepted: int64(j.n), Outcomes: j.outcomes, Retried: j.retried, Ended: j.last}
}

// JobOpen reports whether a job has a task here that has not ended.
func (r *Replica) JobOpen(id string) bool {
	j := r.jobs.byID[id]
	return j != nil && j.open > 0
}

// JobTasks lists tasks of a job, as many as fit into an answer: whoever wants all asks for those behind the last, until there
// are none.
func (r *Replica) JobTasks(q *cluster.JobTaskQuery) []cluster.JobTask {
	j := r.jobs.byID[q.Job]
	if j == nil {
		return nil
	}
	var list []cluster.JobTask
	size := 0
	j.from(q.From, q.Unsuccessful, func(e *entry) bool {
		if len(list) == q.Max || size >= pageBytes {
			return false
		}
		t := r.jobTask(j, e)
		list = append(list, t)
		size += 50 + len(t.ID) + len(t.Worker) + len(t.Reason)
		for _, entry := range t.Entries {
			size += len(entry)
		}
		return true
	})
	return list
}

func (r *Replica) jobTask(j *job, e *entry) cluster.JobTask {
	task := cluster.JobTask{Index: e.index, ID: j.taskID(e.index), Outcome: e.outcome}
	if e.outcome == cluster.NoOutcome {
		t := r.tasks[task.ID]
		task.Worker, task.Attempts, task.Entries = r.workers.name(t.worker), int(t.attempts), t.entries
		if t.trouble != nil {
			task.Reason = t.trouble.reason
		}
		return task
	}
	task.ExitCode, task.Worker, task.Attempts = int(e.exit), r.workers.name(e.worker), int(e.attempts)
	task.Run, task.Printed, task.Entries = e.run, e.printed, j.again[e.index].entries
	if kept := r.results.byID[task.ID]; kept != nil && e.bad() {
		task.Reason = r.endedStatus(kept).Record.Reason
	}
	return task
}

// RetryJob runs those tasks of a job again, from an index on, that ended otherwise than well. It returns how many these are,
// and the index to go on from: there may be more than a shell should wait for in one go. It fails when the job is not known
// here, or there is no room for its tasks.
func (r *Replica) RetryJob(now time.Duration, id string, from int64) (actions *Actions, tasks, next int64, err error) {
	r.begin()
	j := r.jobs.byID[id]
	if j == nil {
		return &r.actions, 0, 0, cluster.Errorf(cluster.UnknownTask, "scheduler %s does not know job %q (any more): submit it again",
			r.cfg.Name, id)
	}
	if from == 0 {
		if err := r.Admit(len(j.again)); err != nil && len(j.again) > 0 {
			return &r.actions, 0, 0, err
		}
		j.why, j.fails = "", 0
	}
	var ended []entry
	next = -1
	j.from(from, true, func(e *entry) bool {
		if len(ended) == sweepMost {
			next = e.index
			return false
		}
		_, live := r.tasks[j.taskID(e.index)] // another may be called the same by now
		if _, kept := j.again[e.index]; kept && !live {
			ended = append(ended, *e)
		}
		return true
	})
	for i := range ended {
		r.runAgain(now, j, &ended[i])
	}
	return &r.actions, int64(len(ended)), next, nil
}

// runAgain opens an ended task again. Its attempts go on, so that no two have the same number.
func (r *Replica) runAgain(now time.Duration, j *job, e *entry) {
	a := j.again[e.index]
	t := &task{batch: a.batch, entries: a.entries, index: e.index, phase: cluster.Placing, node: NoNode, received: now, attempts: e.attempts,
		worker: e.worker}
	id := j.taskID(e.index)
	t.spec = cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &a.batch.Kind, Attempt: int(e.attempts)}
	t.troubled().reason = "it runs again by request"
	r.tasks[id] = t
	if e.run > 0 || e.outcome == cluster.Lost {
		t.ranBefore()
	}
	r.opened(t)
	r.placeAgain(now, t)
}

// ForgetJob forgets a job that has ended here; false: it is not known. It fails while a task is open.
func (r *Replica) ForgetJob(id string) (bool, error) {
	j := r.jobs.byID[id]
	switch {
	case j == nil:
		return false, nil
	case j.open > 0:
		return false, cluster.Errorf(cluster.Invalid, "%d tasks of job %s have not ended at scheduler %s: cancel it, or wait", j.open, id,
			r.cfg.Name)
	}
	r.jobs.drop(j)
	return true, nil
}
