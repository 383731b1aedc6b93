package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// ErrUnknownJob says that no scheduler that is asked has anything of it.
var ErrUnknownJob = errors.New("no scheduler that is registered knows this job (any more)")

// Job is what all schedulers know of a job. It adds up their shares, in which a task counts twice that two schedulers were
// given, as happens when one of them did not answer; Cluster.Wait looks closer.
type Job struct {
	cluster.JobStatus
	Unknown int64 // tasks, at least, that no scheduler tells of: they are not submitted yet, or a scheduler is gone
}

// OK tells whether every task finished.
func (j *Job) OK() bool { return j.Outcomes[cluster.Finished] == max(j.Tasks, j.Accepted) }

// Ended is how many tasks have ended.
func (j *Job) Ended() int64 { return j.Accepted - j.Open() }

// Bad is how many tasks ended otherwise than well.
func (j *Job) Bad() int64 { return j.Ended() - j.Outcomes[cluster.Finished] }

// Jobs lists the jobs that the schedulers know, newest first, up to a number. What they know is returned along with the
// errors of those who do not answer.
func (c *Cluster) Jobs(ctx context.Context, most int) ([]Job, error) {
	shares, errs := c.shares(ctx, cluster.JobQuery{Max: most})
	var jobs []Job
	byID := map[string]int{}
	for _, share := range shares {
		for i := range share {
			k, known := byID[share[i].ID]
			if !known {
				k = len(jobs)
				byID[share[i].ID] = k
				jobs = append(jobs, Job{JobStatus: cluster.JobStatus{Job: share[i].Job}})
			}
			jobs[k].add(&share[i])
		}
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Or(cmp.Compare(b.Submitted, a.Submitted), cmp.Compare(b.ID, a.ID)) })
	return jobs[:min(len(jobs), most)], errors.Join(errs...)
}

// Job tells of one job.
func (c *Cluster) Job(ctx context.Context, id string) (Job, error) {
	shares, errs := c.shares(ctx, cluster.JobQuery{ID: id})
	return merge(id, shares, errs)
}

// shares asks every scheduler.
func (c *Cluster) shares(ctx context.Context, q cluster.JobQuery) ([][]cluster.JobStatus, []error) {
	shares := make([][]cluster.JobStatus, len(c.Schedulers))
	errs := c.every(func(i int, s *session.Target) (err error) {
		shares[i], err = s.Service.Jobs(ctx, q)
		if errors.Is(err, cluster.UnknownTask) {
			return nil
		}
		return err
	})
	return shares, errs
}

// merge puts the shares of one job together.
func merge(id string, shares [][]cluster.JobStatus, errs []error) (Job, error) {
	j, known := Job{JobStatus: cluster.JobStatus{Job: cluster.Job{ID: id}}}, false
	for _, share := range shares {
		for i := range share {
			known = true
			j.Job = share[i].Job
			j.add(&share[i])
		}
	}
	err := errors.Join(errs...)
	if !known && err == nil {
		err = fmt.Errorf("job %s: %w", id, ErrUnknownJob)
	}
	return j, err
}

func (j *Job) add(share *cluster.JobStatus) {
	j.Accepted += share.Accepted
	for i, n := range share.Outcomes {
		j.Outcomes[i] += n
	}
	j.Retried += share.Retried
	j.JobStatus.Ended = max(j.JobStatus.Ended, share.Ended)
	j.Unknown = max(0, j.Tasks-j.Accepted)
}

// Cancel cancels what has not ended of a job, and what workers have of it for schedulers that are gone. It returns how many
// tasks that is. The error is of those who do not answer: what a scheduler has and no worker holds goes on if it comes back.
func (c *Cluster) Cancel(ctx context.Context, id string) (int64, error) {
	n, errs := c.sum(func(s *session.Target) (int64, error) { return s.Service.CancelJob(ctx, id) })
	more, atWorkers := c.cancelOrphans(ctx, id, c.answering(errs))
	err := errors.Join(errs...)
	if err == nil {
		return n + more, nil // workers that do not answer are their schedulers' affair
	}
	return n + more, errors.Join(err, atWorkers)
}

// Retry runs again what ended otherwise than well. It returns how many tasks that is.
func (c *Cluster) Retry(ctx context.Context, id string) (int64, error) {
	n, errs := c.sum(func(s *session.Target) (int64, error) { return s.Service.RetryJob(ctx, id) })
	return n, errors.Join(errs...)
}

// sum adds up what something is about at every scheduler. Who knows nothing of the job adds nothing.
func (c *Cluster) sum(do func(*session.Target) (int64, error)) (total int64, errs []error) {
	var mu sync.Mutex
	errs = c.every(func(_ int, s *session.Target) error {
		n, err := do(s)
		if errors.Is(err, cluster.UnknownTask) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		total += n
		return err
	})
	return total, errs
}

// Forget has all services forget a job that has ended, and what its tasks printed. It is false when no scheduler knew it.
func (c *Cluster) Forget(ctx context.Context, id string) (bool, error) {
	var mu sync.Mutex
	known := false
	errs := c.every(func(_ int, s *session.Target) error {
		was, err := s.Service.ForgetJob(ctx, id)
		if errors.Is(err, cluster.UnknownTask) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		known = known || was
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return known, err // what its tasks printed stays readable as long as somebody knows it
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return known, err
	}
	failures := make([]error, len(nodes))
	var calls sync.WaitGroup
	for i := range nodes {
		calls.Go(func() {
			if err := c.dial(nodes[i].Node.Name, nodes[i].Node.Address).ForgetJob(ctx, id); err != nil && !errors.Is(err, cluster.UnknownTask) {
				failures[i] = fmt.Errorf("worker %s: %w", nodes[i].Node.Name, err)
			}
		})
	}
	calls.Wait()
	return known, errors.Join(failures...)
}
