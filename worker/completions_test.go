package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A completion says how long its task waited and ran; one that never started only waited.
func TestIntervalsOfACompletion(t *testing.T) {
	n := newNode(t)
	c := attach(t, n, "s", 1)
	c.enqueue(t, n, 10*time.Second, "runs", shape(8, 1, 1))
	c.enqueue(t, n, 11*time.Second, "waits", shape(8, 1, 1))
	c.enqueue(t, n, 12*time.Second, "is cancelled", shape(8, 1, 1))
	finished(n, 15*time.Second, "runs")
	n.Cancel(19*time.Second, cluster.Everybody, "is cancelled", "")
	finished(n, 22*time.Second, "waits")
	notice, _ := n.Notice(22*time.Second, "s", 10)
	for i, want := range []struct {
		id        string
		wait, run time.Duration
	}{{"runs", 0, 5 * time.Second}, {"is cancelled", 7 * time.Second, 0}, {"waits", 4 * time.Second, 7 * time.Second}} {
		if got := notice.Message.Completions[i]; got.TaskID != want.id || got.Wait != want.wait || got.Run != want.run {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// Completions that nobody fetched for RetainFor are dropped, whomever they are for, and counted.
func TestExpiredCompletionsAreCounted(t *testing.T) {
	n := newNode(t)
	keep := n.cfg.Limits.RetainFor
	for i, name := range []string{"r", "s"} {
		c := attach(t, n, name, 1)
		for _, id := range []string{"a", "b", "c"}[:i+1] {
			c.enqueue(t, n, time.Hour, name+id, shape(1, 1, 1))
			finished(n, time.Hour, name+id)
		}
	}
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{time.Hour + keep - 1, 0}, {time.Hour + keep, 3}, {time.Hour + keep, 0}} {
		if got := n.Expire(c.at); got != c.want {
			t.Errorf("at %v %d are dropped, want %d", c.at, got, c.want)
		}
	}
	if s := n.Stats(time.Hour); s.Counts.Dropped != 3 || s.Unacknowledged != 0 || len(n.Tasks(cluster.TaskQuery{Max: 10})) != 0 {
		t.Errorf("%+v: want 3 dropped, and nothing left", s)
	}
}
