package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Waiting ends when the last task does, also over a scheduler that does not answer for a while; not over one that is gone.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := share("a", 2, map[int64]cluster.Outcome{1: cluster.Finished}), share("b", 2, map[int64]cluster.Outcome{2: cluster.NoOutcome})
		start := time.Now()
		b.fault = func(int) error {
			if since := time.Since(start); since > 5*time.Second && since < 20*time.Second {
				return errUnanswered
			}
			return nil
		}
		time.AfterFunc(time.Minute, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.end(b.tasks["j.2"], cluster.Failed, false)
		})
		j, err := of(a, b).Wait(t.Context(), "j", func(Job) {})
		if err != nil || j.Outcomes[cluster.Failed] != 1 || j.OK() || time.Since(start) > time.Minute+pollWait {
			t.Errorf("%+v, %v after %v", j, err, time.Since(start))
		}
		b.fault = func(int) error { return errGone }
		if _, err := of(a, b).Wait(t.Context(), "j", func(Job) {}); err == nil || !strings.Contains(err.Error(), "scheduler b") {
			t.Error(err)
		}
		if _, err := of(a).Wait(t.Context(), "j", func(Job) {}); err == nil ||
			!strings.Contains(err.Error(), "no scheduler that is registered tells of 1 of its 2 tasks") {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b = share("b", 1, map[int64]cluster.Outcome{1: cluster.NoOutcome})
		if _, err := of(b).Wait(ctx, "j", func(Job) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// However shares overlap, each task counts once: what is missing is not made up for by what two schedulers have.
func TestWaitCountsTasks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Int64Range(1, 40).Draw(r, "tasks")
		ended := rapid.MapOf(rapid.Int64Range(1, n), rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Failed}))
		parts := rapid.SliceOfN(ended, 1, 3).Draw(r, "parts")
		best := map[int64]cluster.Outcome{}
		var schedulers []*fakeScheduler
		for _, part := range parts {
			schedulers = append(schedulers, share("s", n, part))
			for index, o := range part {
				if best[index] != cluster.Finished {
					best[index] = o
				}
			}
		}
		finished := int64(0)
		for _, o := range best {
			if o == cluster.Finished {
				finished++
			}
		}
		synctest.Test(t, func(t *testing.T) {
			j, err := of(schedulers...).Wait(t.Context(), "j", func(Job) {})
			missing := n - int64(len(best))
			if (err == nil) != (missing == 0) || j.Unknown != missing || j.Outcomes[cluster.Finished] != finished || j.OK() != (finished == n) {
				t.Errorf("%d of %d finished, %d are missing: %+v, %v", finished, n, missing, j, err)
			}
		})
	})
}

// Tasks are counted when something has changed, and not with every question.
func TestWaitCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScheduler("a"), newScheduler("b")
		for _, f := range []*fakeScheduler{a, b} {
			f.job = cluster.Job{ID: "j", Tasks: 2}
			f.tasks["j.1"] = &cluster.JobTask{Index: 1, ID: "j.1", Outcome: cluster.Finished}
		}
		_, err := of(a, b).Wait(t.Context(), "j", func(Job) {})
		if err == nil || !strings.Contains(err.Error(), "no scheduler that is registered tells of 1 of its 2 tasks") || a.pages != 2 {
			t.Errorf("%v, after %d questions for tasks", err, a.pages)
		}
	})
}
