package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// endsLarge has a job of one task come and go, with so much standard input.
func endsLarge(t *testing.T, r *Replica, now time.Duration, job string, stdin int, o cluster.Outcome) {
	t.Helper()
	p := &cluster.Template{Argv: []string{job}, Stdin: make([]byte, stdin)}
	actions, refusal := r.SubmitJob(now, &cluster.Job{ID: job}, "", commandOf(job, 0, p, p.Digest()))
	if refusal != nil {
		t.Fatal(refusal)
	}
	finish(t, r, now, actions.Send[0], o)
	r.Tick(now)
}

// A template is kept while a task is open, or may run again: of a job whose tasks all finished nothing large is left.
func TestTemplatesOfJobsThatAreOver(t *testing.T) {
	r := jobReplica(t)
	for i := range 20 {
		endsLarge(t, r, time.Second, fmt.Sprint("j", i), cluster.MaxStdin, cluster.Finished)
	}
	if len(r.templates.byDigest) > 0 || r.jobs.bytes != 0 || len(r.jobs.byID) != 20 {
		t.Errorf("%d templates and %d bytes are kept of %d jobs", len(r.templates.byDigest), r.jobs.bytes, len(r.jobs.byID))
	}
	for _, j := range r.jobs.byID {
		if j.latest != nil {
			t.Error("a job that is over holds the template of its latest task")
		}
	}
}

// What could run again is bounded in bytes, templates and entries alike: jobs that are over make room, the oldest first,
// and then what ends cannot run again. Nothing is counted for ever.
func TestWhatMayRunAgainIsBounded(t *testing.T) {
	r := jobReplica(t)
	n := mostAgain/cluster.MaxStdin + 5
	for i := range n {
		endsLarge(t, r, time.Second, fmt.Sprint("j", i), cluster.MaxStdin, cluster.Failed)
	}
	if kept := len(r.jobs.byID); r.jobs.bytes > mostAgain || kept < n-10 || r.jobs.byID["j0"] != nil || len(r.templates.byDigest) != kept {
		t.Fatalf("%d jobs and %d templates of %d bytes are kept", kept, len(r.templates.byDigest), r.jobs.bytes)
	}
	runOf(t, r, time.Second, &cluster.Job{ID: "open"}, 0, nil)
	r.jobs.bytes += mostAgain // of jobs that are open
	d := runOf(t, r, time.Second, &cluster.Job{ID: "open"}, 1, nil)
	finish(t, r, time.Second, d, cluster.Failed)
	if _, tasks, err := r.RetryJob(time.Second, "open"); tasks != 0 || err != nil || len(r.jobs.byID) != 1 {
		t.Errorf("%d tasks run again (%v), %d jobs are kept", tasks, err, len(r.jobs.byID))
	}
	if r.jobs.bytes != mostAgain {
		t.Errorf("%d bytes are counted of nothing", r.jobs.bytes-mostAgain)
	}
}

// A task that runs again by request has no client any more: whoever submitted it may be gone, and would keep others out.
func TestNobodyCollectsWhatRunsAgain(t *testing.T) {
	r := jobReplica(t)
	j := &cluster.Job{ID: "j"}
	var sent []Dispatch
	for i := range int64(10) {
		sent = append(sent, runOf(t, r, 0, j, i, nil))
	}
	for _, d := range sent {
		finish(t, r, 0, d, cluster.Failed)
	}
	_, cursor := collectAll(t, r, 0)
	collectAll(t, r, cursor)
	batches := map[*batch]bool{}
	actions, n, err := r.RetryJob(0, "j")
	for _, d := range append([]Dispatch(nil), actions.Send...) {
		batches[r.tasks[d.Assignment.TaskID].batch] = true
		finish(t, r, 0, d, cluster.Failed)
	}
	if n != 10 || err != nil || r.Uncollected() != 0 || len(batches) != 1 || r.Pending() != 0 {
		t.Errorf("%d tasks run again (%v), %d wait to be collected; %d batches", n, err, r.Uncollected(), len(batches))
	}
	if _, n, _ := r.RetryJob(0, "j"); n != 10 {
		t.Errorf("%d tasks run once more", n)
	}
}

// A large job is forgotten at once, and what is kept for running its tasks again goes in parts: with the ticks, or as soon as others need
// the room. The name is free meanwhile.
func TestALargeJobIsForgottenInParts(t *testing.T) {
	const most = 2*sweepMost + 1
	failed := func() *Replica {
		r := jobReplica(t)
		for i := range int64(most) {
			finish(t, r, 0, runOf(t, r, 0, &cluster.Job{ID: "j"}, i, nil), cluster.Failed)
		}
		return r
	}
	r := failed()
	each := r.jobs.bytes / most
	for _, left := range []int{sweepMost + 1, 1, 0} {
		r.Tick(2 * r.jobs.keep)
		if got := (r.jobs.bytes + each/2) / each; got != left || len(r.jobs.byID) != 0 || r.jobs.kept != 0 {
			t.Errorf("%d tasks are kept, want %d; %d jobs", got, left, len(r.jobs.byID))
		}
	}
	if len(r.jobs.leaving) > 0 || r.jobs.bytes != 0 {
		t.Errorf("%d jobs with %d bytes are kept for ever", len(r.jobs.leaving), r.jobs.bytes)
	}

	r = failed()
	if known, err := r.ForgetJob("j"); !known || err != nil {
		t.Fatal(known, err)
	}
	before := r.jobs.bytes
	r.jobs.bytes += mostAgain - before // others have all the rest
	finish(t, r, 0, runOf(t, r, 0, &cluster.Job{ID: "j"}, most, nil), cluster.Failed)
	if again := len(r.jobs.byID["j"].again); again != 1 || r.jobs.bytes > mostAgain {
		t.Errorf("%d tasks of the new job can run again, with %d bytes too many", again, r.jobs.bytes-mostAgain)
	}
	if got := (before - (r.jobs.bytes - (mostAgain - before)) + each/2) / each; got > 1 {
		t.Errorf("room was made by %d tasks more than the new one takes", got)
	}
}

// Many small jobs that are over are forgotten in parts as well.
func TestManyJobsAreForgottenInParts(t *testing.T) {
	r := jobReplica(t)
	for i := range sweepMost + 5 {
		finish(t, r, 0, runOf(t, r, 0, &cluster.Job{ID: fmt.Sprint("j", i)}, 0, nil), cluster.Finished)
	}
	for _, left := range []int{5, 0} {
		r.Tick(2 * r.jobs.keep)
		if len(r.jobs.byID) != left {
			t.Errorf("%d jobs are kept, want %d", len(r.jobs.byID), left)
		}
	}
}
