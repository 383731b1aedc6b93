package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

const (
	pollWait  = 2 * time.Second        // a scheduler holds a question so long while the job goes on there
	pollAgain = 500 * time.Millisecond // after a question that failed, or of tasks that nobody tells of
	patience  = 30 * time.Second       // with a scheduler that does not answer
)

// Wait returns when no task of a job is open any more, each counted once. Show is told, now and then, how far it is, by the
// sums of what schedulers say.
func (c *Cluster) Wait(ctx context.Context, id string, show func(Job)) (Job, error) {
	var silent time.Time // since then a scheduler does not answer
	quiet, accepted := time.Now(), int64(-1)
	var latest, counted Job // the shares of all schedulers, and what they came to task by task
	for first := true; ; first = false {
		q := cluster.JobQuery{ID: id, Wait: pollWait}
		if first {
			q.Wait = 0
		}
		asked := time.Now()
		shares, errs := c.shares(ctx, q)
		sum, err := merge(id, shares, errs)
		j := sum
		if err == nil && sum.Open() == 0 && (sum.Unknown == 0 || time.Since(quiet) > patience) && !disjoint(shares) {
			if sum != latest {
				counted, err = c.count(ctx, sum)
			}
			if j = counted; err == nil {
				latest = sum
			}
		}
		switch {
		case ctx.Err() != nil:
			return j, context.Cause(ctx)
		case errors.Is(err, ErrUnknownJob):
			return j, err
		case err != nil && silent.IsZero():
			silent = time.Now()
		case err != nil && time.Since(silent) > patience:
			return j, fmt.Errorf("a part of the job is not known: %w", err)
		case err == nil && j.Open() == 0 && j.Unknown == 0:
			return j, nil
		case err == nil && j.Open() == 0 && sum.Accepted == accepted && time.Since(quiet) > patience:
			return j, fmt.Errorf("job %s: no scheduler tells of %d of its %d tasks: they were not submitted, or a scheduler is gone", id,
				j.Unknown, j.Tasks)
		case err == nil:
			silent = time.Time{}
		}
		if sum.Accepted != accepted || sum.Open() > 0 {
			quiet, accepted = time.Now(), sum.Accepted
		}
		show(j)
		if time.Since(asked) < pollAgain && !first { // somebody does not answer, or does not hold questions
			pause(ctx, pollAgain)
		}
	}
}

// disjoint tells whether no task can be in two of the shares of a job.
func disjoint(shares [][]cluster.JobStatus) bool {
	with := 0
	for _, share := range shares {
		for i := range share {
			if share[i].Accepted > 0 {
				with++
			}
		}
	}
	return with <= 1
}

// count counts the tasks of a job one by one. Sums prove nothing when there are several shares: as many tasks may be missing as
// others are in two of them. It takes a question per thousand tasks, so it is for the end of waiting.
func (c *Cluster) count(ctx context.Context, j Job) (Job, error) {
	j.Accepted, j.Outcomes = 0, [len(j.Outcomes)]int64{}
	for task, err := range c.Tasks(ctx, j.ID, 0, false) {
		if err != nil {
			return j, err
		}
		if j.Accepted++; task.Outcome != cluster.NoOutcome {
			j.Outcomes[task.Outcome]++
		}
	}
	j.Unknown = max(0, j.Tasks-j.Accepted)
	return j, nil
}
