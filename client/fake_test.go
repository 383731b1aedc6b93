package client

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/job"
)

// fakeScheduler runs the tasks that it takes at once, or never. It answers after a millisecond.
type fakeScheduler struct {
	rpc.Scheduler
	name    string
	runTime time.Duration
	outcome func(index int64) cluster.Outcome // of a task; nil: all finish
	refuse  func(t *cluster.TaskSpec) cluster.RefusalCode
	fault   func(call int) error // of a submission; called with its number, before anything is taken; and of all else with 0
	after   func(call int) error // and after everything was
	room    int                  // tasks that have not ended, at most; 0: any number

	mu        sync.Mutex
	calls     int
	known     map[string]bool // templates
	forgets   bool            // every template at once
	whole     int             // templates that came
	largest   int             // bytes of a message, at least
	tasks     map[string]*cluster.JobTask
	job       cluster.Job
	records   []cluster.TaskRecord
	ended     chan struct{} // something did
	cancelled int
	pages     int // of tasks, that were asked for
	forgotten bool
}

func newScheduler(name string) *fakeScheduler {
	return &fakeScheduler{name: name, known: map[string]bool{}, tasks: map[string]*cluster.JobTask{}, ended: make(chan struct{}, 1)}
}

// of is a cluster of fakes.
func of(fakes ...*fakeScheduler) *Cluster {
	c := (&Cluster{}).with()
	for _, f := range fakes {
		c.Schedulers = append(c.Schedulers, session.Target{Name: f.name, Address: f.name + ":1", Service: f})
	}
	return c
}

func (f *fakeScheduler) Submit(ctx context.Context, r cluster.SubmitRequest) (refused []cluster.Refusal, err error) {
	if !pause(ctx, time.Millisecond) {
		return nil, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.fault != nil {
		if err := f.fault(f.calls); err != nil {
			return nil, err
		}
	}
	if f.room > 0 && f.open()+len(r.Tasks) > f.room {
		return nil, cluster.Errorf(cluster.Overloaded, "no room")
	}
	if r.Job != nil {
		f.job = *r.Job
	}
	size := 0
	for i := range r.Tasks {
		size += len(r.Tasks[i].ID) + len(r.Tasks[i].Command.Digest) + len(strings.Join(r.Tasks[i].Command.Entries, ""))
		if t := r.Tasks[i].Command.Template; t != nil {
			size += t.Size()
		}
		if code := f.take(&r.Tasks[i], r.Client != ""); code != 0 {
			refused = append(refused, cluster.Refusal{TaskID: r.Tasks[i].ID, Code: code, Message: "by " + f.name})
		}
	}
	f.largest = max(f.largest, size)
	if f.forgets {
		clear(f.known)
	}
	if f.after != nil {
		err = f.after(f.calls)
	}
	return refused, err
}

func (f *fakeScheduler) take(t *cluster.TaskSpec, collected bool) cluster.RefusalCode {
	if t.Command.Template != nil {
		f.known[t.Command.Digest] = true
		f.whole++
	}
	switch {
	case !f.known[t.Command.Digest]:
		return cluster.UnknownTemplate
	case f.tasks[t.ID] != nil:
		return cluster.DuplicateTask
	case f.refuse != nil && f.refuse(t) != 0:
		return f.refuse(t)
	}
	task := &cluster.JobTask{Index: t.Command.Index, ID: t.ID, Worker: "w", Attempts: 1, Entries: t.Command.Entries}
	f.tasks[t.ID] = task
	outcome := cluster.Finished
	if f.outcome != nil {
		outcome = f.outcome(task.Index)
	}
	if f.runTime == 0 {
		f.end(task, outcome, collected)
		return 0
	}
	time.AfterFunc(f.runTime, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.end(task, outcome, collected)
	})
	return 0
}

func (f *fakeScheduler) end(t *cluster.JobTask, outcome cluster.Outcome, collected bool) {
	if t.Outcome != cluster.NoOutcome || outcome == cluster.NoOutcome {
		return
	}
	t.Outcome = outcome
	if collected {
		f.records = append(f.records, cluster.TaskRecord{ID: t.ID, Outcome: outcome, Worker: "w", Attempts: 1})
		select {
		case f.ended <- struct{}{}:
		default:
		}
	}
}

func (f *fakeScheduler) open() (n int) {
	for _, t := range f.tasks {
		if t.Outcome == cluster.NoOutcome {
			n++
		}
	}
	return n
}

func (f *fakeScheduler) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	if f.fault != nil && f.fault(0) != nil {
		return cluster.CollectReply{}, f.fault(0)
	}
	timer := time.NewTimer(r.Wait)
	defer timer.Stop()
	for {
		f.mu.Lock()
		reply := cluster.CollectReply{Incarnation: 1, Cursor: int64(len(f.records)), Records: slices.Clone(f.records[r.After:])}
		f.mu.Unlock()
		if len(reply.Records) > 0 || r.Wait == 0 {
			return reply, nil
		}
		select {
		case <-f.ended:
		case <-timer.C:
			return reply, nil
		case <-ctx.Done():
			return reply, ctx.Err()
		}
	}
}

func (f *fakeScheduler) CancelJob(context.Context, string) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil && f.fault(0) != nil {
		return 0, f.fault(0)
	}
	n := int64(0)
	for _, t := range f.tasks {
		if t.Outcome == cluster.NoOutcome {
			n++
			f.end(t, cluster.Cancelled, true)
		}
	}
	f.cancelled++
	return n, nil
}

func (f *fakeScheduler) ForgetJob(context.Context, string) (bool, error) {
	f.forgotten = true
	return len(f.tasks) > 0, nil
}

func (f *fakeScheduler) Jobs(_ context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil {
		if err := f.fault(0); err != nil {
			return nil, err
		}
	}
	if f.job.ID == "" || q.ID != "" && q.ID != f.job.ID {
		return nil, nil
	}
	s := cluster.JobStatus{Job: f.job, Scheduler: f.name, Accepted: int64(len(f.tasks))}
	for _, t := range f.tasks {
		if t.Outcome != cluster.NoOutcome {
			s.Outcomes[t.Outcome]++
		}
	}
	return []cluster.JobStatus{s}, nil
}

func (f *fakeScheduler) JobTasks(_ context.Context, q cluster.JobTaskQuery) (tasks []cluster.JobTask, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages++
	if f.fault != nil && f.fault(0) != nil {
		return nil, f.fault(0)
	}
	for _, t := range f.tasks {
		if t.Index >= q.From && !(q.Unsuccessful && (t.Outcome == cluster.NoOutcome || t.Outcome == cluster.Finished)) {
			tasks = append(tasks, *t)
		}
	}
	slices.SortFunc(tasks, func(a, b cluster.JobTask) int { return int(a.Index - b.Index) })
	return tasks[:min(len(tasks), q.Max)], nil
}

// errGone is what a call to a process that is no more fails with.
var errGone = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)

// errUnanswered is what a call fails with whose fate is open.
var errUnanswered = fmt.Errorf("%w: %w", rpc.ErrUnavailable, io.EOF)

// array is the submission of so many tasks.
func array(t *testing.T, n int) *Submission {
	t.Helper()
	a, err := job.ParseArray(fmt.Sprintf("1-%d", n))
	if err != nil {
		t.Fatal(err)
	}
	p, err := job.NewPlan(&cluster.Template{Argv: []string{"x"}}, job.Inputs{}, a, job.Figures{})
	if err != nil {
		t.Fatal(err)
	}
	return &Submission{Plan: p, Job: cluster.Job{ID: "j", Tasks: int64(n)}}
}

// attended has the ends of a submission's tasks collected; every task ends once.
func attended(t *testing.T, s *Submission) (ends map[int64]Ended) {
	ends = map[int64]Ended{}
	s.Ended = func(position int64, e Ended) {
		if _, twice := ends[position]; twice {
			t.Errorf("task %d ends twice", position)
		}
		ends[position] = e
	}
	return ends
}
