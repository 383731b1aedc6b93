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
		if err := of(s).with(w).FollowTask(t.Context(), "j", 1, 0, &Terminal{Out: &out, Err: &errs}); err != nil {
			t.Error(err)
		}
		if out.String() != strings.Repeat("first ", rangeBytes/4)+"second" || errs.String() != "!!" || time.Since(start) > 4*time.Minute {
			t.Errorf("%d bytes, %q after %v", out.Len(), errs.String(), time.Since(start))
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
