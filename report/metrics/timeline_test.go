package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/report/reporttest"

	"pgregory.net/rapid"
)

// stayed is a row of a task on one worker: milliseconds, millicores.
func stayed(worker, class string, cores int64, arrived, started, ended int) generator.Row {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return generator.Row{Worker: worker, Class: class, Cores: cores, Enqueued: ms(arrived), Started: ms(started), Finished: ms(ended),
		Completed: ms(ended), Outcome: cluster.Finished}
}

func curves(t *timeline, to time.Duration) *Curves {
	c := &Curves{}
	t.curves(c, 0, to)
	return c
}

// One node of 4 cores: a task of 3 runs for 1 s; one of 2 arrives at 200 ms and must wait, as one core
// is free: 0.8 core-seconds of the 4 x 2 are lost behind it. One of 1 that waits behind it on the
// other class's node, which is full, loses nothing.
func TestBlockedByHand(t *testing.T) {
	i := reporttest.Info()
	i.Classes = []generator.ClassInfo{{Name: "small", Nodes: 1, Cores: 4}, {Name: "large", Nodes: 1, Cores: 2}}
	lines := newTimeline(i)
	for _, r := range []generator.Row{
		stayed("a", "small", 3000, 0, 0, 1000), stayed("a", "small", 2000, 200, 1000, 2000),
		stayed("b", "large", 2000, 0, 0, 1000), stayed("b", "large", 1000, 200, 1000, 2000),
	} {
		lines.add(&r)
	}
	c := curves(lines, 2*time.Second)
	if c.Classes[0].Name != "large" || c.Classes[0].Blocked != 0 || !close(c.Classes[1].Blocked, 0.8/8) {
		t.Errorf("got %+v and %+v", c.Classes[0].Blocked, c.Classes[1].Blocked)
	}
	// Node a has 3 of 4 cores in use for one half and 2 for the other; its one waiting task waited 0.8 s.
	if u := c.Classes[1].Utilisation; !close(u[10], 0.75) || !close(u[bins-10], 0.5) {
		t.Errorf("utilisation %v", u)
	}
	if !close(total(c.Classes[1].Queue)*2/bins, 0.8) || !close(total(c.Waiting)*2/bins, 1.6) || !close(c.Length(), 2*i.TimeScale) {
		t.Errorf("queue %g, waiting %g, length %g", total(c.Classes[1].Queue), total(c.Waiting), c.Length())
	}
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// A class with nodes of two sizes says nothing about what is free at a node.
func TestBlockedIsUnknownForMixedClasses(t *testing.T) {
	i := reporttest.Info()
	i.Classes = []generator.ClassInfo{{Name: "small", Nodes: 1, Cores: 4}, {Name: "small", Nodes: 1, Cores: 8}}
	lines := newTimeline(i)
	r := stayed("a", "small", 3000, 0, 10, 1000)
	lines.add(&r)
	if c := curves(lines, time.Second); len(c.Classes) != 1 || !math.IsNaN(c.Classes[0].Blocked) {
		t.Errorf("got %+v", c.Classes)
	}
}

// Tasks that never reached a worker, or that nobody knows the times of, are not on the timeline; one
// that was cancelled while it waited is there until then.
func TestUnfinishedTasksOnTheTimeline(t *testing.T) {
	lines := newTimeline(reporttest.Info())
	lost := reporttest.Never("x", cluster.Lost, 0)
	strange := stayed("w", "unknown", 1000, 0, 0, 100)
	cancelled := stayed("w", "small", 1000, 0, 0, 0)
	cancelled.Started, cancelled.Finished, cancelled.Completed = generator.Never, generator.Never, 500*time.Millisecond
	for _, r := range []generator.Row{lost, strange, cancelled} {
		lines.add(&r)
	}
	c := curves(lines, time.Second)
	if len(lines.stays) != 1 || !close(total(c.Waiting), bins) || total(c.Classes[1].Utilisation) != 0 {
		t.Errorf("%d stays, %g waiting", len(lines.stays), total(c.Waiting))
	}
}

// Against a walk through every millisecond.
func TestBlockedAgainstAWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const capacity, to = 4000, 400
		var stays []stay
		for range rapid.IntRange(1, 12).Draw(t, "tasks") {
			arrived := rapid.IntRange(0, 200).Draw(t, "arrived")
			started := arrived + rapid.IntRange(0, 60).Draw(t, "wait")
			ended := started + rapid.IntRange(0, 100).Draw(t, "run")
			ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
			stays = append(stays, stay{cores: rapid.Int64Range(1, 4).Draw(t, "cores") * 1000, arrived: ms(arrived), started: ms(started),
				ended: ms(ended)})
		}
		want, spell, length := 0.0, 0.0, 0
		for ms := range to + 1 {
			waiting, used := 0, int64(0)
			at := time.Duration(ms) * time.Millisecond
			for _, s := range stays {
				if s.arrived <= at && at < s.started {
					waiting++
				}
				if s.started <= at && at < s.ended {
					used += s.cores
				}
			}
			if waiting > 0 && used < capacity && ms < to {
				spell, length = spell+float64(capacity-used)/1e6, length+1
				continue
			}
			if length > int(Noise/time.Millisecond) {
				want += spell
			}
			spell, length = 0, 0
		}
		if got := blockedAt(slices.Clone(stays), capacity, 0, to*time.Millisecond); math.Abs(got-want) > 1e-9 {
			t.Fatalf("got %g, want %g", got, want)
		}
	})
}

func TestQuantilesKeepTheDistribution(t *testing.T) {
	const points = 300
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1000), 1, 2500).Draw(t, "values")
		slices.Sort(values)
		q := quantilesOf(values)
		if len(q) > quantileSteps+1 || q[0] != values[0] || q[len(q)-1] != values[len(values)-1] {
			t.Fatalf("%d quantiles from %g to %g", len(q), q[0], q[len(q)-1])
		}
		x, share := q.CDF(points)
		if len(x) > points+2 || share[len(share)-1] != 1 || !slices.IsSorted(x) || !slices.IsSorted(share) {
			t.Fatalf("%d points, the last share %g", len(x), share[len(share)-1])
		}
		for i := range x {
			below, _ := slices.BinarySearch(values, math.Nextafter(x[i], math.Inf(1)))
			if got := float64(below) / float64(len(values)); got < share[i]-0.002 {
				t.Fatalf("%g of the values are at most %g, drawn as %g", got, x[i], share[i])
			}
		}
	})
}
