package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// silentScheduler answers nothing from a moment on, and refuses no connection.
type silentScheduler struct {
	*fakeScheduler
	from time.Time
}

func (s silentScheduler) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	if time.Now().Before(s.from) {
		return s.fakeScheduler.Submit(ctx, r)
	}
	<-ctx.Done()
	return nil, errUnanswered
}

func (s silentScheduler) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	if time.Now().Before(s.from) {
		return s.fakeScheduler.Collect(ctx, r)
	}
	<-ctx.Done()
	return cluster.CollectReply{}, errUnanswered
}

// A scheduler that dies without a word is noticed, and another has the task, within a second; wherever the task began.
func TestFailOverWithinASecond(t *testing.T) {
	for _, id := range []string{"t1", "t2", "t3", "t4"} {
		synctest.Test(t, func(t *testing.T) {
			a, b := newScheduler("a"), newScheduler("b")
			a.known[""], b.known[""] = true, true
			dead := silentScheduler{a, time.Now()}
			c := &Cluster{Schedulers: []session.Target{{Name: "a", Address: "a:1", Service: dead}, {Name: "b", Address: "b:1", Service: b}}}
			start := time.Now()
			task := cluster.TaskSpec{ID: id, Command: &cluster.Command{}}
			record, err := c.SubmitTask(t.Context(), task, true)
			if took := time.Since(start); err != nil || record == nil || took > time.Second || b.tasks[id] == nil {
				t.Errorf("%s: %+v, %v, after %v", id, record, err, took)
			}
		})
	}
}

// Who gives up waiting learns why the wait ended.
func TestATaskIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScheduler("a")
		a.known[""], a.runTime = true, time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if record, err := of(a).SubmitTask(ctx, cluster.TaskSpec{ID: "t", Command: &cluster.Command{}}, true); record != nil || err != ctx.Err() {
			t.Errorf("%+v, %v", record, err)
		}
		record, err := of(a).SubmitTask(t.Context(), cluster.TaskSpec{ID: "u", Command: &cluster.Command{}}, false)
		if record != nil || err != nil {
			t.Errorf("without waiting: %+v, %v", record, err)
		}
	})
}

// keeping is a scheduler that keeps what it accepts.
type keeping struct{ silentScheduler }

func (s keeping) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	reply, err := s.silentScheduler.Collect(ctx, r)
	reply.Keeps = true
	return reply, err
}

// A task that must not run twice, and that a scheduler may have kept without an answer, is not waited for without end: whoever
// submits it learns why, and where nobody waits for the ends of a job's tasks, so does whoever submits that.
func TestATaskThatASilentSchedulerMayHave(t *testing.T) {
	const reason = "scheduler a does not answer for 1m0s"
	silent := func() *Cluster {
		a := newScheduler("a")
		a.known[""], a.runTime = true, time.Hour
		dead := keeping{silentScheduler{a, time.Now().Add(time.Second)}}
		a.after = func(int) error { return errUnanswered }
		return &Cluster{Schedulers: []session.Target{{Name: "a", Address: "a:1", Service: dead}}}
	}
	for _, wait := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			task := cluster.TaskSpec{ID: "t", AtMostOnce: true, Command: &cluster.Command{}}
			record, err := silent().SubmitTask(t.Context(), task, wait)
			_, unsure := errors.AsType[Uncertain](err)
			if took := time.Since(start); record != nil || !unsure || !strings.Contains(err.Error(), reason) || took > 2*time.Minute {
				t.Errorf("waiting %v: %+v, %v, after %v", wait, record, err, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := array(t, 3)
		s.AtMostOnce = true
		err := silent().Submit(t.Context(), s, Interrupts{})
		_, unsure := errors.AsType[Uncertain](err)
		if !unsure || !strings.Contains(err.Error(), "of 3 of its tasks") || !strings.Contains(err.Error(), "task 1: "+reason) {
			t.Error(err)
		}
	})
}
