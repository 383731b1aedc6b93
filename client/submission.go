package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/job"
)

const (
	connections = 4                    // messages under way per scheduler
	chunkBytes  = 1 << 18              // of tasks in one message, about: the largest template has room beside them
	chunkTasks  = 512                  // tasks in one message
	feed        = 256                  // tasks that are made at a time
	backlog     = 4096                 // tasks that are made and not accepted, at most
	pollPause   = 5 * time.Millisecond // between two polls: ends gather, and nobody waits long for what a task printed
	window      = 1 << 16              // tasks per scheduler that have not ended, at most, while somebody waits for their ends
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

// submission feeds a session with the tasks of a plan. The session's lock guards it.
type submission struct {
	*Submission
	cluster *Cluster
	session *session.Session
	limit   int

	fed     int64 // tasks of the plan that the client knows
	fails   int64
	unsure  int64  // tasks that a scheduler may have, where nobody waits for ends
	doubt   string // why, of the first
	stopped bool   // nothing more is fed
	failure error
	over    chan struct{}
	rest    chan struct{} // the rest is to be cancelled
	ended   bool
	quiet   chan struct{} // nothing more is fed, and no message is under way
	isQuiet bool
}

// Submit brings a job to the schedulers, of which it follows the list. It returns when they have all of it or, where somebody
// waits for ends, when every task has ended. When a task is refused, what was accepted is cancelled, and the error says why. Where
// nobody waits for ends, tasks that must not run twice and that a silent scheduler may have are an Uncertain.
func (c *Cluster) Submit(ctx context.Context, s *Submission, by Interrupts) error {
	r := &submission{Submission: s, cluster: c, over: make(chan struct{}), rest: make(chan struct{}), quiet: make(chan struct{})}
	if r.limit = s.Window; r.limit == 0 {
		r.limit = window * max(1, len(c.Schedulers))
	}
	batch := max(1, min(chunkTasks, chunkBytes/s.Plan.Size()))
	r.session = session.New(session.Config{
		ClientConfig: generator.ClientConfig{Connections: connections, MaxBatch: batch, PollPause: pollPause, Seed: rand.Uint64(),
			Brief: s.Ended == nil},
		Targets: c.inTurn(s.Job.ID), Name: s.Job.ID, Silent: s.Ended == nil, Job: &s.Job,
		Task:   func(i int32) cluster.TaskSpec { return r.spec(r.Plan.At(int64(i))) },
		Listed: c.Listed, Connect: c.Join, Ended: r.end, News: c.News, After: r.after,
	}, time.Now())
	r.session.Start()
	err := r.wait(ctx, by)
	r.session.Close()
	return err
}

// inTurn lists the schedulers from another one on for every name: those who submit little do not all begin with the first.
func (c *Cluster) inTurn(name string) []session.Target {
	n := len(c.Schedulers)
	if n == 0 {
		return nil
	}
	first := int(cluster.HashID(name) % uint64(n))
	return append(slices.Clone(c.Schedulers[first:]), c.Schedulers[:first]...)
}

// spec is a task as a scheduler is told of it, with its template.
func (r *submission) spec(t job.Task) cluster.TaskSpec {
	return cluster.TaskSpec{ID: job.TaskID(r.Job.ID, t.Index), Type: cluster.CommandType, Demand: t.Demand, Duration: t.Duration,
		LearnCores: t.LearnCores, LearnMemory: t.LearnMemory, AtMostOnce: r.AtMostOnce, TimeScale: 1,
		Command: &cluster.Command{Digest: t.Digest, Template: t.Template, Job: r.Job.ID, Index: t.Index, Entries: t.Entries}}
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
	r.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
		r.stopped = true
		return c.Stop(now)
	})
	r.cancel(by)
	if r.Ended == nil {
		return r.outcome(interrupted)
	}
	select {
	case <-r.over:
	case <-by.Hurry:
		r.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
			return c.Abandon(now, "given up: its end was not waited for")
		})
	}
	return r.outcome(interrupted)
}

// cancel cancels what the schedulers have of the job, and then what was on its way to them meanwhile.
func (r *submission) cancel(by Interrupts) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	there := &Cluster{Schedulers: r.session.Present(), Nodes: r.cluster.Nodes, Connect: r.cluster.Connect}
	defer there.Close()
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		_, err := there.Cancel(ctx, r.Job.ID)
		select {
		case <-r.quiet:
			_, err = there.Cancel(ctx, r.Job.ID)
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

func (r *submission) outcome(interrupted error) (err error) {
	r.session.With(func(*generator.Client) {
		if err = cmp.Or(r.failure, interrupted); err == nil && r.unsure > 0 {
			err = Uncertain{fmt.Errorf("of %d of its tasks it is not known whether a scheduler has them: %s", r.unsure, r.doubt)}
		}
	})
	return err
}

// fail keeps the first thing that went wrong.
func (r *submission) fail(err error) {
	r.session.With(func(*generator.Client) { r.failure = cmp.Or(r.failure, err) })
}
