package scheduler

import (
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

// JobOpen reports whether a job has a task here that has not ended, or is about to run again.
func (r *Replica) JobOpen(id string) bool {
	j := r.jobs.byID[id]
	return j != nil && (j.open > 0 || j.retrying)
}

// JobTasks lists tasks of a job, as many as fit into an answer: whoever wants all asks for those behind the last, until there
// are none. With Config.Keeps the answer stands once [Replica.Wanted] names nothing.
func (r *Replica) JobTasks(q *cluster.JobTaskQuery) []cluster.JobTask {
	r.results.spilled.wanted = nil
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
		task.Worker, task.Attempts, task.Entries = r.workers.name(t.worker), int(t.attempts), t.entries.list(t.batch.lists)
		if t.trouble != nil {
			task.Reason = t.trouble.reason
		}
		return task
	}
	task.ExitCode, task.Worker, task.Attempts = int(e.exit), r.workers.name(e.worker), int(e.attempts)
	task.Run, task.Printed = e.run, e.printed
	if a, kept := j.again[e.index]; kept {
		task.Entries = a.entries.list(a.batch.lists)
	}
	if kept := r.results.byID[task.ID]; kept != nil && e.bad() {
		task.Reason = r.endedStatus(kept).Record.Reason
	}
	return task
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
	r.jobs.letGo(sweepMost)
	return true, nil
}
