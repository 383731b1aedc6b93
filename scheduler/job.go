package scheduler

import (
	"container/list"
	"fmt"

	"time"

	"dodoor/internal/cluster"
)

// job is this replica's share of a job: the tasks that were submitted here, open and ended.
type job struct {
	cluster.Job
	ledger
	open     int
	outcomes [cluster.Lost + 1]int64
	retried  int64           // executions beyond the first of a task
	fails    int64           // tasks that failed for good, since somebody asked for them again
	why      string          // it has failed as a whole; empty: it has not
	last     time.Duration   // end
	again    map[int64]again // by index: what it takes to run those again that ended otherwise than well
	ids      oddIDs
	unkept   bool   // it has changed since the journal was told of it
	latest   *batch // shared by the next task, if that is alike

	sweeping bool          // being cancelled
	sweep    int64         // from this index on
	until    time.Duration // so are those that were received by then
	retrying bool          // running again what ended otherwise than well
	retry    int64         // from this index on

	letGo int64 // once it is forgotten: nothing is kept of its tasks below this index

	made, over *list.Element // in jobs
}

// jobs are the jobs here.
type jobs struct {
	byID     map[string]*job
	made     list.List // in the order of their first task
	over     list.List // those without an open task, in the order of their last end
	sweeping []*job    // being cancelled
	retrying []*job    // running again
	leaving  []*job    // forgotten, and something is still kept for running their tasks again
	kept     int       // ended tasks in all ledgers, and jobWeight for each job that is over
	bytes    int       // of what it takes to run tasks again
	keep     time.Duration

	templates *templates
	journal   *journal
}

// mostKept bounds the ended tasks in all ledgers of a replica: beyond it the job that ended first is forgotten.
const mostKept = 2_000_000

// jobWeight is how many ended tasks a job takes the memory of beyond its tasks.
const jobWeight = 16

func newJobs(keep time.Duration, t *templates) jobs {
	return jobs{byID: map[string]*job{}, keep: keep, templates: t, journal: t.journal}
}

// find returns the job of a submission, which may be its first task here; nil: it belongs to none.
func (s *jobs) find(j *cluster.Job, t *cluster.TaskSpec) (*job, *cluster.Refusal) {
	c := t.Command
	switch {
	case j == nil && c.Job == "":
		return nil, nil
	case j == nil:
		return nil, refuse(t.ID, cluster.InvalidTask, "its command belongs to job %s, which the submission does not describe", c.Job)
	case c.Job != j.ID:
		return nil, refuse(t.ID, cluster.InvalidTask, "its command belongs to job %q, the submission to job %s", c.Job, j.ID)
	}
	known := s.byID[j.ID]
	if known == nil {
		return &job{Job: *j}, nil
	}
	if known.why != "" {
		return nil, refuse(t.ID, cluster.InvalidTask, "%s", known.why)
	}
	if _, e := known.find(c.Index); e != nil {
		return nil, refuse(t.ID, cluster.DuplicateTask, "job %s already has a task with index %d here", j.ID, c.Index)
	}
	if index, taken := known.indexOf(t.ID); taken {
		return nil, refuse(t.ID, cluster.DuplicateTask, "job %s already has a task with this id here, at index %d", j.ID, index)
	}
	return known, nil
}

// opened books a task that was accepted or runs again.
func (s *jobs) opened(t *task) {
	j := t.batch.job
	if j.made == nil {
		j.made = s.made.PushBack(j)
		s.byID[j.ID] = j
		s.journal.job(j)
	}
	if j.over != nil {
		s.over.Remove(j.over)
		j.over = nil
		s.kept -= jobWeight
	}
	j.open++
	if _, e := j.find(t.index); e != nil {
		s.kept--
		j.outcomes[e.outcome]--
		s.dropAgain(j, t.index)
		j.set(entry{index: t.index})
		s.journal.reopened(j, t.index)
		return
	}
	j.insert(t.index)
	j.ids.add(j.ID, t.index, t.spec.ID)
}

// ended books the end of a task, and reports whether it was the last open one.
func (s *jobs) ended(now time.Duration, t *task, c *cluster.Completion) bool {
	j := t.batch.job
	j.open--
	j.last = now
	s.journal.job(j)
	j.outcomes[c.Outcome]++
	s.kept++
	j.set(entry{index: t.index, run: c.Run, printed: c.Printed, exit: int32(c.ExitCode), worker: t.worker, attempts: t.attempts,
		outcome: c.Outcome})
	if c.Outcome != cluster.Finished {
		s.keepAgain(j, t.index, again{t.batch.unclaimed(), t.entries})
	}
	if c.Outcome != cluster.Finished && c.Outcome != cluster.Cancelled {
		if j.fails++; j.MaxFails > 0 && j.fails >= j.MaxFails && j.why == "" {
			j.why = fmt.Sprintf("job %s has failed: %d of its tasks failed at this scheduler (max_fails = %d), the others are cancelled", j.ID,
				j.fails, j.MaxFails)
			s.cancel(now, j)
		}
	}
	if j.open == 0 {
		j.latest = nil // its template may be large
		j.over = s.over.PushBack(j)
		s.kept += jobWeight
	}
	return j.open == 0
}

// cancel has the tasks that are open now cancelled, one after the other.
func (s *jobs) cancel(now time.Duration, j *job) {
	if !j.sweeping {
		s.sweeping = append(s.sweeping, j)
	}
	j.sweeping, j.sweep, j.until = true, 0, now
	s.journal.job(j)
}

// drop forgets a job that is over. What is kept for running its tasks again goes in parts.
func (s *jobs) drop(j *job) {
	delete(s.byID, j.ID)
	s.made.Remove(j.made)
	s.over.Remove(j.over)
	s.kept -= j.n + jobWeight
	j.retrying = false
	s.journal.dropped(j)
	if len(j.again) > 0 {
		s.leaving = append(s.leaving, j)
	}
}

// expire forgets jobs that ended long ago, and the oldest when there is too much to keep: so many jobs, and tasks that could run again,
// that a scheduler goes on placing meanwhile. The others follow.
func (s *jobs) expire(now time.Duration) {
	left := sweepMost - s.letGo(sweepMost)
	for front := s.over.Front(); front != nil && left > 0; front = s.over.Front() {
		j := front.Value.(*job)
		if now-j.last < s.keep && s.kept <= mostKept && s.bytes <= mostAgain {
			return
		}
		s.drop(j)
		left -= 1 + s.letGo(left)
	}
}
