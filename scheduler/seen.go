package scheduler

import "dodoor/internal/cluster"

// What an asker may see of a replica: every request of a person finds tasks and jobs here, and what it does not find there is not,
// for that person.

// seen returns a task that has not ended; nil: there is none for the asker.
func (r *Replica) seen(by cluster.Asker, id string) *task {
	if t := r.tasks[id]; t != nil && by.Sees(t.batch.user) {
		return t
	}
	return nil
}

// seen returns the record of a task that has ended.
func (s *results) seen(by cluster.Asker, id string) *ended {
	if e := s.byID[id]; e != nil && by.Sees(e.user) {
		return e
	}
	return nil
}

// seen returns a job.
func (s *jobs) seen(by cluster.Asker, id string) *job {
	if j := s.byID[id]; j != nil && by.Sees(j.User) {
		return j
	}
	return nil
}
