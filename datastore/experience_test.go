package datastore_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

func seen(scheduler string, incarnation int64, name string, number int64) cluster.Experience {
	return cluster.Experience{Scheduler: scheduler, Incarnation: incarnation, Name: name, Class: "a", Number: number, Count: number,
		Runs: []cluster.Run{{Took: number, At: number}}}
}

// tell flushes what a scheduler has seen, and returns the pushes that follow: every decision makes one.
func tell(t *testing.T, s *datastore.Store, decisions int64, e ...cluster.Experience) []datastore.Push {
	t.Helper()
	d := delta(e[0].Scheduler, e[0].Incarnation, decisions)
	d.Experience = e
	return flush(t, s, d).Push
}

// told returns what pushes say of what others have seen, by receiver, as name and number; everybody takes them.
func told(t *testing.T, s *datastore.Store, pushes []datastore.Push) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, p := range slices.Clone(pushes) {
		for _, e := range fill(t, s, p).Experience {
			said[p.To.Name] += fmt.Sprintf("%s/%d:%s=%d ", e.Scheduler, e.Incarnation, e.Name, e.Number)
		}
		s.Answered(0, p, 0)
	}
	return said
}

// A scheduler is told what others have seen, once, whatever comes of order and repetition; a newcomer everything. A new
// roster makes whole snapshots, which do not say this again.
func TestWhatOthersHaveSeenIsPassedOn(t *testing.T) {
	s := newStore(t, datastore.Config{Batch: 1})
	registerScheduler(t, s, "s1", 1)
	registerScheduler(t, s, "s2", 1)
	want := func(got map[string]string, want map[string]string) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	want(told(t, s, tell(t, s, 1, seen("s1", 1, "k", 3), seen("s1", 1, "l", 1))), map[string]string{"s2": "s1/1:k=3 s1/1:l=1 "})
	want(told(t, s, tell(t, s, 2, seen("s1", 1, "k", 2), seen("s1", 1, "k", 3), seen("s1", 1, "l", 2))), map[string]string{"s2": "s1/1:l=2 "})
	want(told(t, s, tell(t, s, 3, seen("s1", 1, "k", 3))), nil)
	if newcomer := registerScheduler(t, s, "s3", 1); len(newcomer.Experience) != 2 {
		t.Errorf("a newcomer is told %+v", newcomer.Experience)
	}
	register(t, s, 0, workerNode("w", "w:1", 1))
	want(told(t, s, s.Tick(0).Push), map[string]string{"s3": "s1/1:k=3 s1/1:l=2 "}) // it may not have taken the first one
	registerScheduler(t, s, "s1", 2)
	want(told(t, s, tell(t, s, 1, seen("s1", 2, "k", 1))), // a new process begins anew, and is told what the old one had seen
		map[string]string{"s1": "s1/1:l=2 ", "s2": "s1/2:k=1 ", "s3": "s1/2:k=1 "})
	want(told(t, s, tell(t, s, 2, seen("s1", 2, "k", 1))), nil)
}

// A push that does not arrive takes nothing along with it: the next one says it.
func TestAPushThatFailsSaysItAgain(t *testing.T) {
	s := newStore(t, datastore.Config{Batch: 1})
	registerScheduler(t, s, "s1", 1)
	registerScheduler(t, s, "s2", 1)
	for i := range int64(3) {
		for _, p := range tell(t, s, i+1, seen("s1", 1, fmt.Sprint("n", i), i+1)) {
			snapshot := fill(t, s, p)
			if want := int(i + 1); p.To.Name == "s2" && len(snapshot.Experience) != want {
				t.Errorf("push %d says %+v", i, snapshot.Experience)
			}
			if p.To.Name == "s2" {
				s.Failed(0, p, false)
			} else {
				s.Answered(0, p, 0)
			}
		}
	}
}

// One snapshot carries a bounded number of entries, the next ones the rest, each once; and what is kept is bounded.
func TestWhatIsPassedOnIsBounded(t *testing.T) {
	const perSnapshot, kept = 1024, 32768
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newStore(t, datastore.Config{Batch: 1 << 40})
	registerScheduler(t, s, "s1", 1)
	for i := range int64(kept + 100) {
		e := seen("s1", 1, fmt.Sprintf("a name that has as many bytes as one may have, which are 64 %04x", i), i+1)
		e.Runs = make([]cluster.Run, cluster.MaxRuns)
		tell(t, s, 0, e)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := float64(int64(after.HeapAlloc-before.HeapAlloc)) / (1 << 20)
	t.Logf("%.1f MB", size)
	if size > 20 {
		t.Errorf("%d entries take %.1f MB, said are about 15", kept, size)
	}
	registerScheduler(t, s, "s2", 1)
	next := int64(101)
	for range kept/perSnapshot + 1 {
		actions, _ := s.Settle(0)
		for _, p := range actions.Push {
			snapshot := fill(t, s, p)
			for _, e := range snapshot.Experience {
				if e.Number != next {
					t.Fatalf("entry %d, want %d", e.Number, next)
				}
				next++
			}
			if len(snapshot.Experience) > perSnapshot {
				t.Errorf("%d entries in one snapshot", len(snapshot.Experience))
			}
			s.Answered(0, p, 0)
		}
	}
	if next != kept+101 {
		t.Errorf("the last entry told is %d", next-1)
	}
}

// Whatever is told in whatever order and taken or not, a scheduler that takes pushes at last knows the newest of everything.
func TestEverythingNewestArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := datastore.New(datastore.Config{Incarnation: 1, Batch: 1, NodeTimeout: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"s1", "s2", "s3"} {
			if _, err := s.RegisterScheduler(cluster.SchedulerRef{Name: name, Address: "a", Incarnation: 1}); err != nil {
				t.Fatal(err)
			}
		}
		newest, known := map[string]int64{}, map[string]int64{}
		decisions := map[string]int64{}
		take := func(pushes []datastore.Push, fails bool) {
			for len(pushes) > 0 {
				p := pushes[0]
				pushes = pushes[1:]
				var snapshot cluster.Snapshot
				s.Fill(&snapshot, p)
				if p.To.Name != "s3" || !fails {
					if p.To.Name == "s3" {
						for _, e := range snapshot.Experience {
							known[e.Scheduler+e.Name] = max(known[e.Scheduler+e.Name], e.Number)
						}
					}
					pushes = append(pushes, s.Answered(0, p, 0).Push...)
					continue
				}
				pushes = append(pushes, s.Failed(0, p, false).Push...)
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "deltas") {
			from := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "from")
			decisions[from]++
			d := delta(from, 1, decisions[from])
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				e := seen(from, 1, rapid.SampledFrom([]string{"k", "l", "m"}).Draw(t, "name"), rapid.Int64Range(1, 9).Draw(t, "number"))
				d.Experience = append(d.Experience, e)
				newest[from+e.Name] = max(newest[from+e.Name], e.Number)
			}
			actions, err := s.Flush(0, d)
			if err != nil {
				t.Fatal(err)
			}
			take(actions.Push, rapid.Bool().Draw(t, "fails"))
		}
		actions, _ := s.Settle(0)
		take(actions.Push, false)
		if fmt.Sprint(known) != fmt.Sprint(newest) {
			t.Fatalf("it knows %v, told was %v", known, newest)
		}
	})
}
