package campaign

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"dodoor/conf"
)

// RunFunc simulates one configuration.
type RunFunc func(ctx context.Context, c *conf.Config) (Outcome, error)

// Progress is how far a campaign is.
type Progress struct {
	Study       string  // of the run that has just ended
	Done, Total int     // runs
	Share       float64 // of the work, roughly
}

// Run runs a plan, so many runs at a time. The first error ends it. Progress, which may be nil, is told after
// every run.
func (p *Plan) Run(ctx context.Context, do RunFunc, jobs int, progress func(Progress)) (*Results, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := newQueue(p.order())
	var group sync.WaitGroup
	for range max(1, min(jobs, len(p.runs))) {
		group.Go(func() {
			for r := q.take(ctx); r != nil; r = q.take(ctx) {
				outcome, err := carryOut(ctx, do, r)
				if err != nil {
					cancel(fmt.Errorf("study %s, policy %s, seed %d: %w", r.study, r.c.Scheduler.Policy, r.c.Seed, err))
					q.wake()
					return
				}
				r.outcome = outcome
				q.ended(r, progress)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return p.results(), nil
}

// carryOut runs one run. A large one is collected more often: it would otherwise need twice its memory.
func carryOut(ctx context.Context, do RunFunc, r *run) (Outcome, error) {
	if r.large {
		defer debug.FreeOSMemory()
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	return do(ctx, r.c)
}

// queue hands out runs, one large one at a time.
type queue struct {
	mutex   sync.Mutex
	change  *sync.Cond
	waiting []*run
	large   bool // one is running
	total   int
	done    int
	work    float64
	all     float64
}

func newQueue(runs []*run) *queue {
	q := &queue{waiting: runs, total: len(runs)}
	q.change = sync.NewCond(&q.mutex)
	for _, r := range runs {
		q.all += r.weight
	}
	return q
}

// take returns the next run that may start, waiting for it if it must; nil when there is none, or when the
// campaign is over.
func (q *queue) take(ctx context.Context) *run {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for ctx.Err() == nil && len(q.waiting) > 0 {
		for i, r := range q.waiting {
			if r.large && q.large {
				continue
			}
			q.large = q.large || r.large
			q.waiting = slices.Delete(q.waiting, i, i+1)
			return r
		}
		q.change.Wait()
	}
	return nil
}

// wake lets everybody see that the campaign is over. The lock keeps it from coming between a look and the
// wait that follows it.
func (q *queue) wake() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.change.Broadcast()
}

func (q *queue) ended(r *run, progress func(Progress)) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if r.large {
		q.large = false
	}
	q.done++
	q.work += r.weight
	q.change.Broadcast()
	if progress != nil {
		progress(Progress{Study: r.study, Done: q.done, Total: q.total, Share: q.work / q.all})
	}
}
