package client

import (
	"context"
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
