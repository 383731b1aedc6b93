package scheduler

import (
	"math"
	"testing"

	"dodoor/internal/cluster"
)

// A profile is in force until the mean was off by more than a quarter after 32 executions in a row, and again as soon as it
// is not. One that is off now and then is never overruled.
func TestExperienceOverrulesAProfile(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	const task = "profiled/short"
	x.runs(task, "a", slow(profilePatience-1, 1300)...)
	x.want(t, task, "a", 1000)
	x.runs(task, "a", 1300)
	x.want(t, task, "a", 1300)
	x.want(t, task, "b", 500) // nothing was seen there
	x.runs(task, "a", slow(keptRuns/4, 1000)...)
	x.want(t, task, "a", 1000) // the mean is 1,225: they agree again
	for range 3 {
		x.runs(task, "b", slow(keptRuns-5, 700)...)
		x.want(t, task, "b", 500)
		x.runs(task, "b", slow(keptRuns, 600)...) // a fifth is no disagreement
	}
	x.want(t, task, "b", 500)

	cold := tableOf(t, "s1", 1, Cold)
	cold.want(t, task, "a", 10_000)
	cold.runs(task, "a", 1001)
	cold.want(t, task, "a", 1001)
	cold.want(t, task, "b", 1001)
}

// A profile that says the mean of run times that scatter is hardly ever overruled, though their median is off by far.
func TestAProfileOfTheMeanHolds(t *testing.T) {
	const task, sigma, seeds = "profiled/short", 1.0, 20
	overruled, all := 0, 0
	for seed := range uint64(seeds) {
		x := tableOf(t, "s1", 1, Learned)
		for _, took := range scattered(seed, 500, 1000*math.Exp(-sigma*sigma/2), sigma) {
			x.runs(task, "a", took)
			all++
			if x.expects(task, "a") != 1000 {
				overruled++
			}
		}
	}
	if 20*overruled > all {
		t.Errorf("overruled after %d of %d executions", overruled, all)
	}
}

// A name with a profile that takes twice as long is followed within 50 executions.
func TestAWrongProfileIsFollowed(t *testing.T) {
	const task, within = "profiled/short", 50
	x := tableOf(t, "s1", 1, Learned)
	x.runs(task, "a", slow(300, 1000)...)
	x.runs(task, "a", slow(within, 2000)...)
	x.want(t, task, "a", 2000)
}

// What others told counts against a profile whether it came before the first submission of the type or after.
func TestWhenOthersAreHeardOfAProfiledName(t *testing.T) {
	told := gone("s2", 9)
	told.Name = "profiled/short"
	for i := range told.Runs {
		told.Runs[i].Took = 3000
	}
	before, after := tableOf(t, "me", 1, Learned), tableOf(t, "me", 1, Learned)
	before.merge([]cluster.Experience{told})
	after.name(told.Name)
	after.merge([]cluster.Experience{told})
	before.want(t, told.Name, "a", 3000)
	after.want(t, told.Name, "a", 3000)
}
