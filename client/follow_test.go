package client

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// Following a task waits until it runs, writes all that it prints, and goes on with its next attempt.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := share("a", 1, map[int64]cluster.Outcome{1: cluster.NoOutcome}), &fakeWorker{outputs: map[string][2]string{}}
		task := s.tasks["j.1"]
		at := func(d time.Duration, attempt int, out string, outcome cluster.Outcome) {
			time.AfterFunc(d, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				w.mu.Lock()
				defer w.mu.Unlock()
				w.outputs["j.1"] = [2]string{out, "!"}
				task.Worker, task.Attempts, task.Outcome, task.Printed = "w", attempt, outcome, int64(len(out))
			})
		}
		at(time.Minute, 1, strings.Repeat("first ", rangeBytes/4), cluster.NoOutcome)
		at(2*time.Minute, 2, "second", cluster.NoOutcome)
		at(3*time.Minute, 2, "second", cluster.Failed)
		var out, errs bytes.Buffer
		start := time.Now()
		if err := of(s).with(w).FollowTask(t.Context(), "j", 1, 0, &Terminal{Out: &out, Err: &errs}, nil); err != nil {
			t.Error(err)
		}
		if out.String() != strings.Repeat("first ", rangeBytes/4)+"second" || errs.String() != "!!" || time.Since(start) > 4*time.Minute {
			t.Errorf("%d bytes, %q after %v", out.Len(), errs.String(), time.Since(start))
		}
	})
}

// A worker that dies with what a task printed is told of once, and what the task prints elsewhere follows. A scheduler that
// does not answer is of no importance when another has the task.
func TestFollowOverDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, silent := share("a", 1, map[int64]cluster.Outcome{1: cluster.NoOutcome}), share("b", 1, nil)
		silent.fault = func(int) error { return errUnanswered }
		dead, w := &fakeWorker{away: true}, &fakeWorker{outputs: map[string][2]string{"j.1": {"second", ""}}}
		task := s.tasks["j.1"]
		task.Worker, task.Attempts = "w", 1
		time.AfterFunc(time.Minute, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			task.Worker, task.Attempts, task.Outcome, task.Printed = "w2", 2, cluster.Finished, 6
		})
		var out bytes.Buffer
		var told []error
		c := of(silent, s).with(dead, w)
		err := c.FollowTask(t.Context(), "j", 1, 0, &Terminal{Out: &out, Err: &out}, func(err error) { told = append(told, err) })
		if err != nil || out.String() != "second" || len(told) != 1 || strings.Count(told[0].Error(), "worker w,") != 1 {
			t.Errorf("%q, told %v, %v", &out, told, err)
		}
	})
}

// The worker that has an attempt is found, wherever the task was last.
func TestFind(t *testing.T) {
	w, w2 := &fakeWorker{outputs: map[string][2]string{}}, &fakeWorker{outputs: map[string][2]string{"j.1": {"x"}}}
	o := Output{Worker: "w", TaskID: "j.1", Attempt: 1}
	if found, err := of().with(w, w2).Find(t.Context(), o); err != nil || found != "w2" {
		t.Errorf("%q, %v", found, err)
	}
	if _, err := of().with(w).Find(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no worker has attempt 1") {
		t.Error(err)
	}
}
