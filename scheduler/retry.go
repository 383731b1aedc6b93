package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// RetryJob runs those tasks of a job again that ended otherwise than well, and returns how many these are. When they are many,
// or there is room for a few (max_pending), the others follow as there is, with the next ticks and ends. It fails when the job is
// not known here, or there is no room at all.
func (r *Replica) RetryJob(now time.Duration, by cluster.Asker, id string) (*Actions, int64, error) {
	r.begin()
	j := r.jobs.seen(by, id)
	if j == nil {
		return &r.actions, 0, cluster.Errorf(cluster.UnknownTask, "scheduler %s does not know job %q (any more): submit it again",
			r.cfg.Name, id)
	}
	if err := r.Admit(j.User, "", 1); err != nil && len(j.again) > 0 {
		return &r.actions, 0, err
	}
	j.why, j.fails = "", 0
	r.journal.job(j)
	tasks := len(j.again)
	r.jobs.retry(j)
	skipped := r.retrySome(now, j)
	r.jobs.retried()
	return &r.actions, int64(tasks - skipped), nil
}

// retry has the tasks run again, one after the other, that have ended otherwise than well.
func (s *jobs) retry(j *job) {
	if !slices.Contains(s.retrying, j) {
		s.retrying = append(s.retrying, j)
	}
	j.retrying, j.retry = true, 0
}

// retried leaves jobs alone of which nothing is left to be run again.
func (s *jobs) retried() {
	s.retrying = slices.DeleteFunc(s.retrying, func(j *job) bool { return !j.retrying })
}

// retryJobs runs the next tasks again of the jobs that somebody asked for, as there is room. When it drains, those that have not
// begun are the next process's, if there is a journal to tell it of them.
func (r *Replica) retryJobs(now time.Duration) {
	if len(r.jobs.retrying) == 0 {
		return
	}
	for _, j := range r.jobs.retrying {
		if j.why != "" || r.draining && !r.journal.on {
			j.retrying = false
			r.journal.job(j)
		}
		if j.retrying && !r.draining {
			r.retrySome(now, j)
		}
	}
	r.jobs.retried()
}

// Postponed returns how many tasks somebody asked to run again that have not begun to.
func (r *Replica) Postponed() (n int) {
	for _, j := range r.jobs.retrying {
		if !j.retrying {
			continue
		}
		for index := range j.again {
			if index >= j.retry {
				n++
			}
		}
	}
	return n
}

// retrySome runs the next tasks of a job again. It returns how many cannot, as another task has their id by now.
func (r *Replica) retrySome(now time.Duration, j *job) (skipped int) {
	room, looked := r.cfg.MaxPending-r.pending, 0
	var ended []entry
	j.retrying = false
	r.journal.job(j)
	j.from(j.retry, true, func(e *entry) bool {
		if looked == sweepMost || len(ended) >= room {
			j.retry, j.retrying = e.index, true
			return false
		}
		looked++
		_, kept := j.again[e.index]
		taken := r.taken(j.taskID(e.index), j.User)
		switch {
		case kept && taken:
			skipped++
		case kept:
			ended = append(ended, *e)
		}
		return true
	})
	for i := range ended {
		r.runAgain(now, j, &ended[i])
	}
	return skipped
}

// taken reports whether an id is that of a task that is open, or of one of another user that has ended and is still to be told of.
func (r *Replica) taken(id, user string) bool {
	_, live := r.tasks[id]
	e := r.results.byID[id]
	return live || e != nil && e.user != user
}

// runAgain opens an ended task again. Its attempts go on, so that no two have the same number.
func (r *Replica) runAgain(now time.Duration, j *job, e *entry) {
	a := j.again[e.index]
	t := &task{batch: a.batch, entries: a.entries, index: e.index, phase: cluster.Placing, node: NoNode, received: now, attempts: e.attempts,
		worker: e.worker}
	id := j.taskID(e.index)
	t.spec = cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &a.batch.Kind, Attempt: e.attempts}
	x := t.troubled()
	x.reason, x.requested = "it runs again by request", true
	r.hold(t)
	if e.run > 0 || e.outcome == cluster.Lost {
		r.ranBefore(t)
	}
	r.relearn(t)
	r.opened(t)
	r.placeAgain(now, t)
}
