package experiment

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
)

// Job is one of many runs.
type Job struct {
	Name   string
	Weight float64 // how much work it is, roughly, against the others; positive
	Large  bool    // needs gigabytes: no two such jobs run at the same time
	Do     func(ctx context.Context) error
}

// Pool runs jobs, so many at a time: large ones first, as only one of them runs at a time, then in their order.
type Pool struct {
	Workers int
	Started func(Progress) // told before every job, one at a time; nil: nobody
	Ended   func(Progress) // and after it
}

// Progress is how far a pool is.
type Progress struct {
	Name        string // of the job that has just started or ended
	Started     int    // jobs
	Done, Total int
	Share       float64 // of the work that is done, roughly
}

// Run returns when every job has ended. The first error ends it, as does ctx, whose cause it then returns.
func (p *Pool) Run(ctx context.Context, jobs []Job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := &queue{pool: p, waiting: slices.Clone(jobs)}
	q.change = sync.NewCond(&q.mutex)
	slices.SortStableFunc(q.waiting, func(a, b Job) int { return rank(a) - rank(b) })
	q.now.Total = len(jobs)
	for _, j := range jobs {
		q.work += j.Weight
	}
	var group sync.WaitGroup
	for range max(1, min(p.Workers, len(jobs))) {
		group.Go(func() {
			for j := q.take(ctx); j != nil; j = q.take(ctx) {
				if err := j.run(ctx); err != nil {
					cancel(err)
					q.wake()
					return
				}
				q.ended(j)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func rank(j Job) int {
	if j.Large {
		return 0
	}
	return 1
}

// run runs one job. A large one is collected more often: it would otherwise need twice its memory.
func (j *Job) run(ctx context.Context) error {
	if j.Large {
		defer debug.FreeOSMemory()
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	return j.Do(ctx)
}

// queue hands out jobs, one large one at a time.
type queue struct {
	pool    *Pool
	mutex   sync.Mutex
	change  *sync.Cond
	waiting []Job
	large   bool // one is running
	now     Progress
	done    float64 // of work
	work    float64
}

// take returns the next job that may start, waiting for it if it must; nil when there is none, or when ctx has
// ended.
func (q *queue) take(ctx context.Context) *Job {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for ctx.Err() == nil && len(q.waiting) > 0 {
		for i, j := range q.waiting {
			if j.Large && q.large {
				continue
			}
			q.large = q.large || j.Large
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.now.Started++
			q.tell(q.pool.Started, &j)
			return &j
		}
		q.change.Wait()
	}
	return nil
}

// wake lets everybody see that it is over. The lock keeps it from coming between a look and the wait that follows it.
func (q *queue) wake() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.change.Broadcast()
}

func (q *queue) ended(j *Job) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if j.Large {
		q.large = false
	}
	q.now.Done++
	q.done += j.Weight
	q.change.Broadcast()
	q.tell(q.pool.Ended, j)
}

func (q *queue) tell(who func(Progress), j *Job) {
	if who != nil {
		q.now.Name, q.now.Share = j.Name, q.done/q.work
		who(q.now)
	}
}
