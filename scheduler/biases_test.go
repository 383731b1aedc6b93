package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// gone is what a scheduler has told that is no more: runs of a second, the newest at a stamp.
func gone(writer string, stamp int64) cluster.Experience {
	e := cluster.Experience{Scheduler: writer, Incarnation: 1, Name: "k", Class: "a", Number: 1, Count: 64, SteadyLog: 6908, SteadyRuns: 64}
	for i := range int64(cluster.MaxRuns) {
		e.Runs = append(e.Runs, cluster.Run{Took: 1000, At: stamp - i})
	}
	return e
}

// What schedulers that are gone have told is forgotten as tasks run, also where run times scatter, and where decisions are counted
// anew because the data service was restarted.
func TestWhoIsGoneIsForgotten(t *testing.T) {
	for _, c := range []struct {
		stamp int64
		sigma float64
	}{{9, 0.5}, {1_000_000, 0.5}, {1_000_000, 0}} {
		for _, writers := range []int{1, 4} {
			x := tableOf(t, "me", 1, Learned)
			for i := range writers {
				x.merge([]cluster.Experience{gone(fmt.Sprint("gone", i), c.stamp)})
			}
			x.runs("k", "a", scattered(7, 500, 2000, c.sigma)...)
			if off := x.off("k", "a", 2000); off > 0.25 {
				t.Errorf("%d gone, stamped %d, σ = %v: off by %.2f", writers, c.stamp, c.sigma, off)
			}
		}
	}
}

// Of own entries and those of others neither push the other out.
func TestOthersPushNothingOfOnesOwnOut(t *testing.T) {
	x := tableOf(t, "me", 1, Learned)
	const own = ownEntries - 1000
	for i := range own {
		x.runs(fmt.Sprint("own", i), "a", 5)
	}
	foreign := func(i int, name string) {
		x.merge([]cluster.Experience{{Scheduler: "other", Incarnation: 1, Name: name, Class: "a", Number: int64(i + 1), Count: 1,
			Runs: []cluster.Run{{Took: 500, At: int64(i + 1)}}}})
	}
	foreign(0, "own0")
	x.want(t, "own0", "a", 252)
	for i := range foreignEntries + 1 {
		foreign(i+1, fmt.Sprint("foreign", i))
	}
	if x.own != own || x.foreign != foreignEntries {
		t.Errorf("%d own entries of %d, %d of others", x.own, own, x.foreign)
	}
	x.want(t, "own0", "a", 5) // what others told of it went, as of the name used longest ago
	for i := range ownEntries {
		x.runs(fmt.Sprint("more", i), "a", 5)
	}
	if x.own != ownEntries || x.foreign != foreignEntries {
		t.Errorf("%d own entries, %d of others", x.own, x.foreign)
	}
}

// A name stays while tasks of it are submitted, or open.
func TestNamesInUseStay(t *testing.T) {
	r := learning(t, Learned)
	x := r.experience
	mode := func(mode string, i int) *cluster.TaskSpec {
		s := untold(fmt.Sprint(mode, i))
		s.Mode = mode
		return s
	}
	finishIn(t, r, submit(t, r, 0, mode("submitted", 0)), time.Hour)
	finishIn(t, r, submit(t, r, 0, mode("open", 0)), time.Hour)
	submit(t, r, 0, mode("open", 1))
	refused := mode("submitted", 1)
	refused.Demand = &cluster.Resources{1 << 40}
	for i := range ownEntries + 100 {
		x.runs(fmt.Sprint("chance", i), "a", 1)
		if i%1000 == 0 {
			if _, refusal := r.Submit(0, "client", refused); refusal == nil {
				t.Fatal("a huge task is taken")
			}
		}
	}
	for _, name := range []string{"simulated/submitted", "simulated/open"} {
		x.want(t, name, "m510", 3_600_000)
	}
}

// Classes that no node has are not learned of, and names of schedulers that come and go take no more and more room.
func TestClassesThatNobodyHas(t *testing.T) {
	x := tableOf(t, "me", 1, Learned)
	for i := range 3 * sharedWriters {
		e := gone(fmt.Sprint("s", i), 9)
		x.merge([]cluster.Experience{e})
		e.Class = fmt.Sprint("class", i)
		x.merge([]cluster.Experience{e})
	}
	if len(x.classes.names) != 3 || x.foreign != 3*sharedWriters || len(x.writers) > sharedWriters {
		t.Errorf("%d classes, %d entries, %d writers", len(x.classes.names), x.foreign, len(x.writers))
	}
	r := learning(t, Learned)
	nodes := append(paperNodes(4), cluster.Node{Name: "new", Class: "new", Incarnation: 1, Capacity: cores(4)})
	s := snapshotOf(2, nodes, make([]cluster.Load, len(nodes)))
	s.Experience = []cluster.Experience{{Scheduler: "s2", Incarnation: 1, Name: "k", Class: "new", Number: 1, Count: 1,
		Runs: []cluster.Run{{Took: 7, At: 1}}}}
	if _, err := r.Push(0, s); err != nil {
		t.Fatal(err)
	}
	if r.experience.foreign != 1 {
		t.Error("what came with the first roster of its class is lost")
	}
}

// What was learned after the last placement is told when the view may not be staler.
func TestWhatWasLearnedLastIsTold(t *testing.T) {
	cfg := testConfig()
	cfg.Estimates, cfg.MaxStaleness = Learned, time.Second
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(40))
	d := submit(t, r, 0, untold("a"))
	r.Settle(0)
	finishIn(t, r, d, time.Second)
	if flushed := r.Tick(time.Hour).Flush; len(flushed) != 1 || len(flushed[0].Experience) != 1 {
		t.Errorf("%+v", flushed)
	}
	if flushed := r.Tick(2 * time.Hour).Flush; len(flushed) != 0 {
		t.Errorf("nothing is new: %+v", flushed)
	}
}

// Tasks do not wait long for ratios, however much is known, and looking for one takes no memory.
func TestRatiosAreOfFewNames(t *testing.T) {
	x := tableOf(t, "me", 1, Learned)
	ratio := func() float64 { return x.ratio(x.classes.Class("b"), x.classes.Class("a")) }
	both := func(i int, b int64) {
		x.runs(fmt.Sprint("n", i), "a", 10)
		x.runs(fmt.Sprint("n", i), "b", 10*b)
	}
	for i := range ratioNames {
		both(i, 9)
	}
	for i := range ratioNames {
		both(ratioNames+i, 3)
	}
	clear(x.ratios)
	if got := ratio(); got != 3 {
		t.Errorf("the ratio is %v", got)
	}
	if n := testing.AllocsPerRun(100, func() { clear(x.ratios); ratio() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for i := range ratioLooks {
		x.runs(fmt.Sprint("only here", i), "a", 10)
	}
	clear(x.ratios)
	if got := ratio(); got != 1 {
		t.Errorf("the ratio is %v, of names used too long ago", got)
	}
}
