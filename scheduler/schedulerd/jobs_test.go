package schedulerd

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// jobService is a scheduler over Thrift with one worker, and the way to submit n tasks of job j to it.
func jobService(t *testing.T) (c *rpc.SchedulerClient, w *fakeWorker, submit func(n int)) {
	t.Helper()
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newReplica(t, data.Addr(), dodoor(t))
	start(t, d)
	w = startWorker(t, "w", data.Addr())
	untilReady(t, d, 1)
	c = rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	t.Cleanup(func() { c.Close() })
	return c, w, func(n int) { submitJob(t, c, n) }
}

// submitJob submits n tasks of job j.
func submitJob(t *testing.T, c *rpc.SchedulerClient, n int) {
	t.Helper()
	template := &cluster.Template{Argv: []string{"echo", "{}"}}
	r := cluster.SubmitRequest{Job: &cluster.Job{ID: "j", Tasks: int64(n)}}
	for i := range n {
		s := cluster.TaskSpec{ID: fmt.Sprint("j.", i), TimeScale: 1, Command: &cluster.Command{Digest: template.Digest(), Job: "j",
			Index: int64(i)}}
		if i == 0 {
			s.Command.Template = template
		}
		r.Tasks = append(r.Tasks, s)
	}
	if refused, err := c.Submit(t.Context(), r); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
}

// jobOf is the share of job j, once it has no open task or the wait is over.
func jobOf(t *testing.T, c *rpc.SchedulerClient, wait time.Duration) cluster.JobStatus {
	t.Helper()
	list, err := c.Jobs(t.Context(), cluster.JobQuery{ID: "j", Wait: wait})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// A job is waited for, runs again and is forgotten, over the wire; its times are those of the day.
func TestTheLifeOfAJob(t *testing.T) {
	began := time.Now()
	c, w, submit := jobService(t)
	submit(20)
	w.until(t, "got the job", func() bool { return len(w.held) == 20 })
	if s := jobOf(t, c, time.Millisecond); s.Open() != 20 || s.Ended != 0 {
		t.Errorf("%+v: want 20 open tasks, and no end", s)
	}
	done := make(chan cluster.JobStatus)
	go func() { done <- jobOf(t, c, 20*time.Second) }()
	w.endAll(t, c, func(id string) cluster.Outcome {
		if id == "j.7" {
			return cluster.Failed
		}
		return cluster.Finished
	})
	s := <-done
	if s.Open() != 0 || s.Outcomes[cluster.Finished] != 19 || s.Ended < time.Duration(began.UnixNano()) ||
		s.Ended > time.Duration(time.Now().UnixNano()) {
		t.Errorf("%+v: want it ended just now", s)
	}
	if n, err := c.RetryJob(t.Context(), "j"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	w.until(t, "got the task again", func() bool { return w.held["j.7"].Attempt == 2 })
	if _, err := c.ForgetJob(t.Context(), "j"); !errors.Is(err, cluster.Invalid) {
		t.Errorf("a job with an open task is forgotten: %v", err)
	}
	w.finishAll(t, c)
	list, err := c.JobTasks(t.Context(), cluster.JobTaskQuery{Job: "j", Max: 100})
	if err != nil || len(list) != 20 || list[7].Attempts != 2 || list[7].Outcome != cluster.Finished {
		t.Errorf("%+v, %v", list, err)
	}
	if known, err := c.ForgetJob(t.Context(), "j"); !known || err != nil {
		t.Error(known, err)
	}
	if _, err := c.RetryJob(t.Context(), "j"); !errors.Is(err, cluster.UnknownTask) {
		t.Errorf("an unknown job runs again: %v", err)
	}
	if list, err := c.Jobs(t.Context(), cluster.JobQuery{ID: "j", Wait: time.Minute}); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

// A job that ended before its scheduler began is told of, with the moment at which it ended.
func TestAJobThatEndedBefore(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	d := newDaemon(t, cfg)
	stop, ended := begun(t, d)
	w := startWorker(t, "w", data.Addr())
	untilReady(t, d, 1)
	c := clientOf(t, d)
	submitJob(t, c, 3)
	w.until(t, "got the job", func() bool { return len(w.held) == 3 })
	w.finishAll(t, c)
	before := jobOf(t, c, 0)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	next := newDaemon(t, cfg)
	start(t, next)
	if after := jobOf(t, clientOf(t, next), 0); after != before || after.Ended == 0 {
		t.Errorf("%+v after the restart, and %+v before", after, before)
	}
}

// Every task of a cancelled job is stopped at its worker, and the template came along once.
func TestAJobIsCancelledAtItsWorkers(t *testing.T) {
	c, w, submit := jobService(t)
	submit(300)
	w.until(t, "got the job", func() bool { return len(w.held) == 300 })
	brought := 0
	for _, a := range w.held {
		if a.Command.Template != nil {
			brought++
		}
	}
	if brought != 1 {
		t.Errorf("%d placements brought the template", brought)
	}
	if n, err := c.CancelJob(t.Context(), "j"); n != 300 || err != nil {
		t.Fatal(n, err)
	}
	w.until(t, "stopped all", func() bool { return len(w.held) == 0 })
	if n, err := c.CancelJob(t.Context(), "unknown"); n != 0 || err != nil {
		t.Error(n, err)
	}
}
