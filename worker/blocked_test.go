package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// The time that heads of the line were blocked adds up over all of them, and runs on while one is.
func TestBlockedTimeAddsUp(t *testing.T) {
	n := newNode(t)
	c := attach(t, n, "s", 1)
	const s = time.Second
	for _, step := range []struct {
		what string
		at   time.Duration
		do   func(now time.Duration)
		want time.Duration // blocked, in all
	}{
		{"one runs", 10 * s, func(now time.Duration) { c.enqueue(t, n, now, "a", shape(8, 1, 1)) }, 0},
		{"another waits", 20 * s, func(now time.Duration) { c.enqueue(t, n, now, "b", shape(8, 1, 1)) }, 0},
		{"for five seconds", 25 * s, func(time.Duration) {}, 5 * s},
		{"and starts", 26 * s, func(now time.Duration) { finished(n, now, "a") }, 6 * s},
		{"nobody waits", 40 * s, func(time.Duration) {}, 6 * s},
		{"two wait", 50 * s, func(now time.Duration) {
			c.enqueue(t, n, now, "c", shape(8, 1, 1))
			c.enqueue(t, n, now, "d", shape(1, 1, 1))
		}, 6 * s},
		{"one of them, which starts, and the other goes on waiting", 53 * s, func(now time.Duration) { finished(n, now, "b") }, 9 * s},
		{"until it is cancelled", 54 * s, func(now time.Duration) { n.Cancel(now, cluster.Everybody, "d", "") }, 10 * s},
		{"nobody waits", 60 * s, func(time.Duration) {}, 10 * s},
	} {
		step.do(step.at)
		if got := n.Stats(step.at).Blocked; got != step.want {
			t.Errorf("%s: blocked for %v, want %v", step.what, got, step.want)
		}
	}
}
