package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/job"
)

const (
	connections = 4       // messages under way per scheduler
	chunkBytes  = 1 << 18 // of tasks in one message, about: the largest template has room beside them
	chunkTasks  = 512     // tasks in one message
	feed        = 256     // tasks that are made at a time
	backlog     = 4096    // tasks that are made and not accepted, at most
	window      = 1 << 16 // tasks per scheduler that have not ended, at most, while somebody waits for their ends
)

// Submission is a job on its way to the schedulers.
type Submission struct {
	Plan       job.Plan
	Job        cluster.Job
	AtMostOnce bool
	Window     int                           // tasks that have not ended, at most [by the number of schedulers]
	Ended      func(position int64, e Ended) // how a task ended; it does not wait. nil: nobody waits for ends
}

// Ended is how a task ended, as far as the one who waits for it needs to know.
type Ended struct {
	Outcome   cluster.Outcome
	ExitCode  int
	Reason    string
	Worker    string
	Attempts  int
	Wait, Run time.Duration
	Printed   int64
	Tail      string // of what it printed
}

// OK tells whether the task did what it should.
func (e *Ended) OK() bool { return e.Outcome == cluster.Finished }

// Interrupts are what a person can do about a submission.
type Interrupts struct {
	Cancel <-chan struct{} // cancels the job, and waits for its tasks' ends
	Hurry  <-chan struct{} // waits no longer
}

// submission drives a generator.Client: what becomes of which task is decided there.
type submission struct {
	*Submission
	cluster *Cluster
	start   time.Time
	limit   int
	batch   int
	calls   context.Context
	cut     context.CancelFunc
	all     sync.WaitGroup
	peers   []*peer

	mu      sync.Mutex
	client  *generator.Client
	fed     int64 // tasks of the plan that the client knows
	fails   int64
	stopped bool // nothing more is fed
	failure error
	alarm   *time.Timer
	over    chan struct{}
	rest    chan struct{} // the rest is to be cancelled
	ended   bool

	underWay int           // messages
	quiet    chan struct{} // nothing more is fed, and no message is under way
	isQuiet  bool
}

// Submit brings a job to the schedulers. It returns when they have all of it or, where somebody waits for ends, when every
// task has ended. When a task is refused, what was accepted is cancelled, and the error says why.
func (c *Cluster) Submit(ctx context.Context, s *Submission, by Interrupts) error {
	r := &submission{Submission: s, cluster: c, start: time.Now(), over: make(chan struct{}), rest: make(chan struct{}),
		quiet: make(chan struct{}), alarm: time.NewTimer(0)}
	r.limit = s.Window
	if r.limit == 0 {
		r.limit = window * len(c.Schedulers)
	}
	r.batch = max(1, min(chunkTasks, chunkBytes/s.Plan.Size()))
	r.calls, r.cut = context.WithCancel(context.Background())
	cfg := generator.ClientConfig{Connections: connections, MaxBatch: r.batch, PollPause: pollPause}
	for i, target := range c.Schedulers {
		cfg.Schedulers = append(cfg.Schedulers, cluster.SchedulerRef{Name: target.Name, Address: target.Address})
		r.peers = append(r.peers, newPeer(r, i, target))
	}
	r.client = generator.NewClient(cfg)
	for _, p := range r.peers {
		p.serve()
	}
	r.all.Go(r.watch)
	r.step(r.client.Start)
	err := r.wait(ctx, by)
	r.cut()
	r.all.Wait()
	return err
}

// wait returns when all is done, if need be by cancelling the rest.
func (r *submission) wait(ctx context.Context, by Interrupts) error {
	var interrupted error
	select {
	case <-r.over:
		return r.outcome(nil)
	case <-r.rest:
	case <-ctx.Done():
		if interrupted = context.Cause(ctx); errors.Is(interrupted, context.Canceled) {
			interrupted = ErrInterrupted
		}
	case <-by.Cancel:
		interrupted = ErrInterrupted
	}
	r.step(func(now time.Duration) *generator.Actions {
		r.stopped = true
		return r.client.Stop(now)
	})
	r.cancel(by)
	if r.Ended == nil {
		return r.outcome(interrupted)
	}
	select {
	case <-r.over:
	case <-by.Hurry:
		r.step(func(now time.Duration) *generator.Actions {
			return r.client.Abandon(now, "given up: its end was not waited for")
		})
	}
	return r.outcome(interrupted)
}

// cancel cancels what the schedulers have of the job, and then what was on its way to them meanwhile.
func (r *submission) cancel(by Interrupts) {
	ctx, cancel := context.WithCancel(r.calls)
	defer cancel()
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		_, err := r.cluster.Cancel(ctx, r.Job.ID)
		select {
		case <-r.quiet:
			_, err = r.cluster.Cancel(ctx, r.Job.ID)
		case <-ctx.Done():
		}
		if err != nil && ctx.Err() == nil {
			r.fail(fmt.Errorf("the rest of the job is not cancelled: %w", err))
		}
	}()
	select {
	case <-cancelled:
	case <-by.Hurry:
		cancel()
		<-cancelled
	}
}

// Refused is a job that comes to nothing: one of its tasks is not taken. What was accepted is cancelled.
type Refused struct{ error }

// Unwrap returns why.
func (r Refused) Unwrap() error { return r.error }

// ErrInterrupted says that somebody wanted it so.
var ErrInterrupted = errors.New("interrupted: the rest of the job is cancelled")

func (r *submission) outcome(interrupted error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return r.failure
	}
	return interrupted
}

// fail keeps the first thing that went wrong.
func (r *submission) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}
