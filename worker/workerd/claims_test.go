package workerd

import (
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// A task that two schedulers got runs on when one of them cancels it, whose claim ends as cancelled at once; the other cancels the
// execution. Both know by the wire who has what.
func TestClaimsAreCancelledAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		other := newScheduler(t, b.net, "s2", 1)
		b.sched.accept(t, task{id: "a", takes: time.Hour})
		other.accept(t, task{id: "a", takes: time.Hour})
		pass(time.Second)
		if found, err := b.sched.client.Cancel(t.Context(), "a", "s1"); err != nil || !found {
			t.Fatalf("%v, %v", found, err)
		}
		if c := only(t, b.sched, "a"); c.Outcome != cluster.Cancelled || b.sample().Running != 1 {
			t.Errorf("%+v, %d run", c, b.sample().Running)
		}
		held, err := other.client.Tasks(t.Context(), cluster.TaskQuery{Max: 10, Answering: []string{"s1"}})
		if err != nil || len(held) != 1 || held[0].Phase != cluster.Running || held[0].Scheduler != "s2" {
			t.Errorf("%+v, %v", held, err)
		}
		if found, err := other.client.Cancel(t.Context(), "a", "s2"); err != nil || !found {
			t.Fatalf("%v, %v", found, err)
		}
		if c := only(t, other, "a"); c.Outcome != cluster.Cancelled {
			t.Errorf("%+v", c)
		}
		b.empty(t)
	})
}
