package drive

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

func TestStopDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[0].runTime, schedulers[1].runTime = time.Second, time.Second
		c := config(t, workload(t, 1000, 10*time.Millisecond), schedulers)
		ctx, cancel := context.WithCancel(t.Context())
		after(t, 2005*time.Millisecond, cancel)
		result := replay(t, ctx, c)
		if !result.Stopped || result.Finished != 201 || result.Cancelled != 799 || result.NotSubmitted != 799 || result.Abandoned != 0 {
			t.Errorf("got %+v", result)
		}
		if result.Elapsed > 4*time.Second {
			t.Errorf("took %v", result.Elapsed)
		}
		if r := rows(t, c, result)["t500"]; r.Outcome != cluster.Cancelled || r.Sent != generator.Never ||
			r.Reason != "not submitted: the run was stopped" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestStopGivesUpAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a")
		schedulers[0].silent = true
		c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
		c.DrainTimeout = 7 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		after(t, 505*time.Millisecond, cancel)
		result := replay(t, ctx, c)
		if result.NotSubmitted != 49 || result.Abandoned != 51 || result.Lost != 51 || result.Elapsed.Round(time.Second) != 8*time.Second {
			t.Errorf("got %+v", result)
		}
		if r := rows(t, c, result)["t3"]; r.Outcome != cluster.Lost || !strings.Contains(r.Reason, "within 7s after the run was stopped") {
			t.Errorf("got %+v", r)
		}
	})
}

// A second signal ends the run at once, also when it comes first.
func TestCloseEndsAtOnce(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			schedulers := fakes(t, "a")
			schedulers[0].silent = true
			c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
			d, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if stopped {
				after(t, 405*time.Millisecond, cancel)
			}
			after(t, 505*time.Millisecond, d.Close)
			result, err := d.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			rows(t, c, result)
			if result.Abandoned == 0 || result.NotSubmitted == 0 || result.Elapsed > time.Second {
				t.Errorf("stopped before: %v: %+v", stopped, result)
			}
			d.Close()
		})
	}
}

func TestTimeoutAfterTheLastSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[0].silent = true
		c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
		c.Timeout = 5 * time.Second
		result := replay(t, t.Context(), c)
		if result.Finished != 50 || result.Abandoned != 50 || result.Stopped || result.Elapsed.Round(time.Second) != 6*time.Second {
			t.Errorf("got %+v", result)
		}
		if r := rows(t, c, result)["t0"]; !strings.Contains(r.Reason, "within 5s after the last submission") {
			t.Errorf("got %+v", r)
		}
	})
}
