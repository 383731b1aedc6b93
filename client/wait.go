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

// Wait returns when no task of a job is open any more, each counted once. Where a scheduler does not answer, what workers hold
// of its part counts, for as long as it is open there; what then nobody tells of is the error. Show is told, now and then, how
// far it is, by the sums of what schedulers say.
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
		orphaned := int64(0) // open at workers
		if sum.Open() == 0 && (err != nil || sum.Unknown > 0) {
			j, orphaned = c.beyond(ctx, sum, c.answering(errs), err != nil)
			if errors.Is(err, ErrUnknownJob) && j.Accepted+orphaned > 0 {
				err = errForgotten
			}
		}
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
		case orphaned > 0 || err != nil && sum.Open() > 0:
			silent = time.Time{}
		case err != nil && j.Tasks > 0 && j.Unknown == 0 && j.Open() == 0:
			return j, nil // others tell of every task
		case err != nil && silent.IsZero():
			silent = time.Now()
		case err != nil && time.Since(silent) > patience:
			return j, missing(&j, err)
		case err == nil && j.Open() == 0 && j.Unknown == 0:
			return j, nil
		case err == nil && j.Open() == 0 && sum.Accepted == accepted && time.Since(quiet) > patience:
			return j, fmt.Errorf("job %s: no scheduler that is registered tells of %d of its %d tasks: they were not "+
				"submitted, or a scheduler is gone; no worker holds them", id,
				j.Unknown, j.Tasks)
		case err == nil:
			silent = time.Time{}
		}
		if sum.Accepted != accepted || sum.Open()+orphaned > 0 {
			quiet, accepted = time.Now(), sum.Accepted
		}
		show(j)
		if orphaned > 0 {
			pause(ctx, pollWait)
		} else if time.Since(asked) < pollAgain && !first { // somebody does not answer, or does not hold questions
			pause(ctx, pollAgain)
		}
	}
}

// errForgotten says that a job's schedulers are gone, and workers have some of it.
var errForgotten = errors.New("no scheduler that is registered knows the job (any more)")

// beyond tells of a job whose open tasks, if there are any, are with schedulers that do not answer or are not there any more: how
// many of these workers have, and when they have none, what all that is known comes to, if somebody is silent or they know more.
func (c *Cluster) beyond(ctx context.Context, sum Job, answering []string, silent bool) (j Job, open int64) {
	held, _ := c.orphans(ctx, sum.ID, 0, false, answering) // whoever is missing is named when patience is over
	if len(held) == 0 && !silent {
		return sum, 0
	}
	for i := range held {
		if held[i].Outcome == cluster.NoOutcome {
			open++
		}
	}
	if open > 0 {
		return sum, open
	}
	j, _ = c.count(ctx, sum)
	return j, 0
}

// missing says what is not known of a job, and why.
func missing(j *Job, err error) error {
	if j.Tasks == 0 {
		return fmt.Errorf("job %s: nobody who answers knows how many tasks it has; %d are known: %w", j.ID, j.Accepted, err)
	}
	return fmt.Errorf("job %s: of %d of its %d tasks nobody who answers tells, and no worker holds them: they had ended, or had not "+
		"begun: %w", j.ID, j.Unknown, j.Tasks, err)
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
	var failed error // the last that comes
	for task, err := range c.Tasks(ctx, j.ID, 0, false) {
		if failed = err; err != nil {
			break
		}
		if j.Accepted++; task.Outcome != cluster.NoOutcome {
			j.Outcomes[task.Outcome]++
		}
	}
	j.Unknown = max(0, j.Tasks-j.Accepted)
	return j, failed
}
