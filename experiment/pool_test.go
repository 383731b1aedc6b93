package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Two large jobs never overlap, they start first, and others run beside them.
func TestOneLargeJobAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy, beside atomic.Int32
		var jobs []Job
		for i := range 4 {
			jobs = append(jobs, Job{Name: fmt.Sprint("small ", i), Weight: 1, Do: func(context.Context) error {
				beside.Add(busy.Load())
				<-time.After(time.Second)
				return nil
			}}, Job{Name: fmt.Sprint("large ", i), Weight: 3, Large: true, Do: func(context.Context) error {
				if busy.Add(1) > 1 {
					t.Error("two large jobs at the same time")
				}
				defer busy.Add(-1)
				<-time.After(10 * time.Second)
				return nil
			}})
		}
		begin := time.Now()
		var started []string
		var last Progress
		pool := Pool{Workers: 3, Started: func(p Progress) { started = append(started, p.Name) }, Ended: func(p Progress) { last = p }}
		if err := pool.Run(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 40*time.Second {
			t.Errorf("took %v; the large jobs alone take 40 s", took)
		}
		if beside.Load() != 4 || started[0] != "large 0" || len(started) != 8 {
			t.Errorf("%d small jobs beside a large one, want all 4; they started as %v", beside.Load(), started)
		}
		if last != (Progress{Name: "large 3", Started: 8, Done: 8, Total: 8, Share: 1}) {
			t.Errorf("the last progress is %+v", last)
		}
	})
}

// The first error ends the pool, whoever waits for whom; so does its context.
func TestWhatEndsAPool(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(t.Context())
	for _, c := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"an error", func(context.Context) error { return broken }},
		{"its context", func(context.Context) error { cancel(broken); return nil }},
	} {
		var calls atomic.Int32
		jobs := make([]Job, 6)
		for i := range jobs {
			jobs[i] = Job{Weight: 1, Large: true, Do: func(ctx context.Context) error { calls.Add(1); return c.do(ctx) }}
		}
		if err := (&Pool{Workers: 4}).Run(ctx, jobs); !errors.Is(err, broken) || calls.Load() != 1 {
			t.Errorf("%s: got %v after %d jobs", c.what, err, calls.Load())
		}
	}
}
