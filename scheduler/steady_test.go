package scheduler

import (
	"math"
	"math/rand/v2"
	"testing"

	"dodoor/internal/cluster"
)

// scattered are run times around a median whose logarithms have a standard deviation.
func scattered(seed uint64, n int, around, sigma float64) []int64 {
	draws := rand.New(rand.NewPCG(seed, 1))
	runs := make([]int64, n)
	for i := range runs {
		runs[i] = int64(math.Round(around * math.Exp(sigma*draws.NormFloat64())))
	}
	return runs
}

// off is by what factor an estimate is off, as a logarithm.
func (x *experience) off(name, class string, truth float64) float64 {
	return math.Abs(math.Log(float64(x.expects(name, class)) / truth))
}

// Where run times scatter, many of them make a figure that is steadier than the median of the newest.
func TestScatteredRunTimes(t *testing.T) {
	var steady, newest float64
	for seed := range uint64(50) {
		x := tableOf(t, "s1", 1, Learned)
		x.runs("sim", "a", scattered(seed, 400, 1000, 1)...)
		steady += x.off("sim", "a", 1000)
		newest += math.Abs(math.Log(float64(x.names["sim"].classes[x.classes.Class("a")].median) / 1000))
	}
	if steady > newest*0.6 {
		t.Errorf("off by %.3f on average, the median of the newest by %.3f", steady/50, newest/50)
	}
}

// A time that doubles or halves, where it scatters little, is followed within 50 completions, and what was before does not come
// back.
func TestAChangeIsFollowed(t *testing.T) {
	const within, near = 50, 0.4
	for _, c := range []struct{ sigma, factor float64 }{{0, 2}, {0, 0.5}, {0.25, 2}, {0.25, 0.5}} {
		for seed := range uint64(20) {
			x := tableOf(t, "s1", 1, Learned)
			x.runs("sim", "a", scattered(seed, 600, 1000, c.sigma)...)
			later := scattered(seed+100, 600, 1000*c.factor, c.sigma)
			x.runs("sim", "a", later[:within]...)
			bound := near + 3*1.25*c.sigma/math.Sqrt(keptRuns)
			if off := x.off("sim", "a", 1000*c.factor); off > bound {
				t.Errorf("σ = %v, %v times as long, seed %d: after %d still off by %.2f", c.sigma, c.factor, seed, within, off)
			}
			x.runs("sim", "a", later[within:]...)
			if off := x.off("sim", "a", 1000*c.factor); off > bound {
				t.Errorf("σ = %v, %v times as long, seed %d: long after, off by %.2f", c.sigma, c.factor, seed, off)
			}
		}
	}
}

// A change that could be chance is followed as the steady mean forgets.
func TestASmallChangeIsFollowedSlowly(t *testing.T) {
	for seed := range uint64(20) {
		x := tableOf(t, "s1", 1, Learned)
		x.runs("sim", "a", scattered(seed, 300, 1000, 0.5)...)
		x.runs("sim", "a", scattered(seed+100, 4*cluster.MaxSteady, 1500, 0.5)...)
		if off := x.off("sim", "a", 1500); off > 0.3 {
			t.Errorf("seed %d: off by %.2f", seed, off)
		}
	}
}

// Without scatter the figure is the median of the newest, to the millisecond.
func TestSteadyRunTimes(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	for _, took := range []int64{1, 12_345, cluster.MaxDuration} {
		x.runs("sim", "a", slow(100, took)...)
		x.want(t, "sim", "a", took)
	}
}

// What others say counts by the number of runs that they rest on.
func TestSteadyFiguresOfOthers(t *testing.T) {
	x := tableOf(t, "me", 1, Learned)
	told := func(writer string, log, runs int64) {
		e := cluster.Experience{Scheduler: writer, Incarnation: 1, Name: "k", Class: "a", Number: 1, Count: runs, SteadyLog: log,
			SteadyRuns: runs}
		for i := range int64(cluster.MaxRuns) {
			e.Runs = append(e.Runs, cluster.Run{Took: []int64{100, 8000}[i%2], At: 100 - i})
		}
		x.merge([]cluster.Experience{e})
	}
	told("s2", 6000, 100)
	told("s3", 7000, 50)
	told("s4", 7000, 50)
	x.want(t, "k", "a", 100+(8000-100)/2) // too few of the newest to tell a change
	told("s5", 6500, 100)
	x.want(t, "k", "a", 665) // the exponential of 6.5
}
