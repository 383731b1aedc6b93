package workerd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// A task that runs longer than estimated is reported without anything having ended: when it has passed its estimate by an
// eighth, and at twice and four times of it. Probes say the same.
func TestReportsWhatRunsLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) {
			c.Node.Reestimate, c.Heartbeat = true, time.Hour
			c.Executors["wait"] = function{executor.Base{}, func(ctx context.Context, s worker.Start) worker.Result {
				s.Shape.Duration = 50_000
				return wait(ctx, s)
			}}
		})
		pass(time.Minute)
		before := len(b.data.reported())
		begun := time.Now()
		b.sched.accept(t, task{id: "long", takes: 16 * time.Second})
		pass(32 * time.Second)
		if reply, err := b.sched.client.Probe(t.Context(), "x", cluster.Resources{}); err != nil || reply.Pending != 32_000 {
			t.Errorf("pending %+v, %v", reply, err)
		}
		pass(28 * time.Second)
		reports := b.data.reported()[before:]
		for i, want := range []struct {
			after   time.Duration
			pending int64
		}{{18 * time.Second, 18_000}, {32 * time.Second, 32_000}, {50 * time.Second, 0}} {
			if i >= len(reports) {
				t.Fatalf("%d reports", len(reports))
			}
			if after := b.data.at[before+i].Sub(begun); after != want.after || reports[i].Load.Duration != want.pending {
				t.Errorf("report %d after %v: %d ms pending, want %+v", i, after, reports[i].Load.Duration, want)
			}
		}
		if len(reports) != 3 {
			t.Errorf("%d reports, want two while it ran and one when it ended", len(reports))
		}
	})
}
