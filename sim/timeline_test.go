package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// fcfs is a node's line by definition: nobody starts before the one in front, and everybody as soon as slots
// and every resource allow it.
type fcfs struct {
	capacity cluster.Resources
	slots    int
	done     []settled
}

type settled struct {
	start, end time.Duration
	demand     cluster.Resources
}

// inUse is what runs at a time.
func (f *fcfs) inUse(at time.Duration) (reserved cluster.Resources, running int) {
	for _, s := range f.done {
		if s.start <= at && at < s.end {
			reserved = reserved.Add(s.demand)
			running++
		}
	}
	return reserved, running
}

func (f *fcfs) start(now time.Duration, demand cluster.Resources) time.Duration {
	if n := len(f.done); n > 0 {
		now = max(now, f.done[n-1].start)
	}
	for {
		reserved, running := f.inUse(now)
		if sum := reserved.Add(demand); running < f.slots && sum.FitsIn(&f.capacity) {
			return now
		}
		now++
	}
}

// The oracle's incremental timeline starts every task exactly when the line by definition does, and knows
// how much of the node is then in use.
func TestTimelineIsTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := cluster.Resources{int64(rapid.IntRange(1, 6).Draw(t, "cores")), int64(rapid.IntRange(0, 4).Draw(t, "memory")), 2}
		dumb := fcfs{capacity: capacity, slots: rapid.IntRange(1, 5).Draw(t, "slots")}
		l := timeline{capacity: capacity, slots: dumb.slots}
		now := time.Duration(0)
		for range rapid.IntRange(1, 40).Draw(t, "tasks") {
			now += time.Duration(rapid.IntRange(0, 6).Draw(t, "gap"))
			var demand cluster.Resources
			for k := range cluster.FirstExtra {
				demand[k] = int64(rapid.IntRange(0, int(capacity[k])).Draw(t, "demand"))
			}
			takes := time.Duration(rapid.IntRange(0, 12).Draw(t, "duration"))
			want := dumb.start(now, demand)
			got := l.start(now, &demand)
			if again := l.start(now, &demand); got != want || again != want {
				t.Fatalf("at %d: starts at %d, asked again at %d, want %d", now, got, again, want)
			}
			reserved, _ := dumb.inUse(want)
			if share := l.share(got, &demand); share != float64(reserved[cluster.Cores]+demand[cluster.Cores])/float64(capacity[cluster.Cores]) {
				t.Fatalf("at %d: share %v with %v in use and %v more", want, share, reserved, demand)
			}
			if rapid.IntRange(0, 4).Draw(t, "dice") == 0 {
				continue // it goes to another node
			}
			l.place(now, got, got+takes, demand)
			dumb.done = append(dumb.done, settled{want, want + takes, demand})
		}
	})
}

// What has ended leaves the timeline: a long run is no longer than what runs at a time.
func TestTimelineForgets(t *testing.T) {
	l := timeline{capacity: cluster.Resources{4}, slots: 4}
	one := cluster.Resources{1}
	for i := range 1000 {
		at := l.start(time.Duration(i), &one)
		l.place(time.Duration(i), at, at+4, one)
		if len(l.running) > 5 {
			t.Fatalf("%d tasks are remembered", len(l.running))
		}
	}
}
