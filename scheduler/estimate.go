package scheduler

import (
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// The rule by which experience overrules a profile, which is a mean: that of the newest runs has been off by more than a share
// of the profile's figure, and by more than so many of its standard errors, after each of so many executions in a row. As soon
// as it is not, the profile is in force again.
const (
	profileTolerance = 0.25
	profileErrors    = 2
	profilePatience  = 32
)

// memoryOfMisses is about how many executions the figure rests on that says how far off estimates were lately.
const memoryOfMisses = 16

// ratiosEvery is how many own executions there are between two looks at the ratios between classes; the first looks
// come after 1, 2, 4 and so on.
const ratiosEvery = 64

// A ratio is of at most so many names, of so many that are looked at: tasks wait for it.
const (
	ratioNames = 64
	ratioLooks = 1024
)

// ran takes the end of an own execution, which had been expected to take so many milliseconds. Stamp is how many decisions
// are known by now.
func (x *experience) ran(n *named, class cluster.ClassID, took, expected, stamp int64) {
	s := x.write(n, class)
	o := s.own
	if stamp = max(stamp, x.clock+1); len(o.runs) > 0 { // a data service that was restarted counts decisions anew
		stamp = max(stamp, o.run(0).At)
	}
	o.keep(cluster.Run{Took: took, At: min(stamp, cluster.MaxStamp)})
	s.Count++
	o.settle(took)
	if expected > 0 {
		o.miss(math.Abs(float64(took-expected))/float64(expected), s.Count)
		s.Off = min(int64(math.Round(o.off*1000)), cluster.MaxMiss)
	}
	if x.completions++; x.completions == x.next {
		x.epoch++
		x.next = min(2*x.next, x.next+ratiosEvery)
		clear(x.ratios)
	}
	s.SteadyLog, s.SteadyRuns = int64(math.Round(1000*o.steady)), o.since
	if x.refresh(n, class) {
		o.since, s.SteadyLog, s.SteadyRuns = 0, 0, 0
	}
	x.bound()
}

// keep takes the newest run.
func (o *ownRuns) keep(run cluster.Run) {
	if len(o.runs) < keptRuns {
		o.runs = append(o.runs, run)
		o.next = len(o.runs) % keptRuns
		return
	}
	o.runs[o.next] = run
	o.next = (o.next + 1) % keptRuns
}

// miss takes one more share by which an estimate was off.
func (o *ownRuns) miss(share float64, count int64) {
	o.off += (share - o.off) / float64(min(count, memoryOfMisses))
}

// tookOf is how long an execution took, in milliseconds of the task's own time. A clock that was set, or an absurd scale,
// must not poison what is learned.
func tookOf(run time.Duration, scale float64) int64 {
	took := math.Round(float64(run) * scale / float64(time.Millisecond))
	return int64(min(max(took, 1), float64(cluster.MaxDuration)))
}

// refresh works out anew what is expected of a name, of which something was seen on a class, and whether run times have changed.
func (x *experience) refresh(n *named, class cluster.ClassID) (changed bool) {
	on := n.classes[class]
	count := int64(0)
	for _, s := range on.entries {
		count += s.Count
	}
	newest := x.newest32(on)
	on.median = median(newest)
	on.usual, changed = on.steady(newest)
	if n.mode != nil && !x.cold && len(newest) > 0 {
		mean, err := meanOf(newest)
		on.usual = int64(math.Round(mean))
		if disagrees(mean, err, x.prior(n, class)) {
			on.against += max(count-on.count, 0)
		} else {
			on.against = 0
		}
	}
	on.count = count
	x.expect(n)
	return changed
}

// refreshAll works out anew what is expected of a name.
func (x *experience) refreshAll(n *named) {
	for class, on := range n.classes {
		if on != nil {
			x.refresh(n, cluster.ClassID(class))
		}
	}
}

// newest32 gathers the newest run times of all writers, about as many as an own entry keeps.
func (x *experience) newest32(on *onClass) []int64 {
	for _, s := range on.entries {
		s.at = 0
	}
	runs := x.scratch[:0]
	for len(runs) < keptRuns {
		var newest *seen
		var run cluster.Run
		for _, s := range on.entries {
			if next, ok := s.run(); ok && (newest == nil || next.At > run.At || next.At == run.At && s.Scheduler < newest.Scheduler) {
				newest, run = s, next
			}
		}
		if newest == nil {
			break
		}
		newest.at++
		runs = append(runs, run.Took)
	}
	return runs
}

// run returns the newest run that was not gathered yet.
func (s *seen) run() (cluster.Run, bool) {
	switch {
	case s.own != nil && s.at < len(s.own.runs):
		return s.own.run(s.at), true
	case s.own == nil && s.at < len(s.Runs):
		return s.Runs[s.at], true
	}
	return cluster.Run{}, false
}

// median sorts values, and returns the one in the middle, or the mean of two; 0: there are none.
func median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return values[half-1] + (values[half]-values[half-1])/2
}

// meanOf returns the mean of runs and its standard error.
func meanOf(runs []int64) (mean, err float64) {
	for _, took := range runs {
		mean += float64(took)
	}
	mean /= float64(len(runs))
	for _, took := range runs {
		err += (float64(took) - mean) * (float64(took) - mean)
	}
	return mean, math.Sqrt(err) / float64(len(runs))
}

// disagrees reports whether a mean says that the figure of a profile is wrong.
func disagrees(mean, err float64, prior int64) bool {
	off := math.Abs(mean - float64(prior))
	return prior > 0 && off > profileTolerance*float64(prior) && off > profileErrors*err
}

// prior returns what the profile says of a name on a class, in milliseconds; 0: nothing.
func (x *experience) prior(n *named, class cluster.ClassID) int64 {
	switch {
	case n.mode == nil || x.cold:
		return 0
	case int(class) < len(n.mode.perClass) && n.mode.perClass[class].Known:
		return n.mode.perClass[class].Shape.Duration
	case n.mode.fallback != nil:
		return n.mode.fallback.Duration
	}
	return 0
}

// expect says anew how long tasks of a name are expected to run on every class.
func (x *experience) expect(n *named) {
	classes := len(x.classes.names)
	for len(n.learned.Durations) < classes {
		n.learned.Durations = append(n.learned.Durations, 0)
	}
	for c := range n.learned.Durations {
		n.learned.Durations[c], _ = x.rule(n, cluster.ClassID(c))
	}
	n.epoch = x.epoch
}

// rule returns the duration that experience puts in force, and why; 0: what was given holds, if anything was.
func (x *experience) rule(n *named, class cluster.ClassID) (int64, cluster.EstimateRule) {
	var on *onClass
	if int(class) < len(n.classes) {
		on = n.classes[class]
	}
	switch {
	case x.prior(n, class) > 0 && (on == nil || on.against < profilePatience):
		return 0, cluster.ProfileRule
	case on != nil && on.usual > 0:
		return on.usual, cluster.LearnedRule
	}
	if borrowed := x.borrow(n, class); borrowed > 0 {
		return borrowed, cluster.BorrowedRule
	}
	return 0, cluster.DefaultRule
}

// borrow takes what is expected on a class of which nothing is known from the one of which most is: times the ratio
// between the two.
func (x *experience) borrow(n *named, class cluster.ClassID) int64 {
	best := -1
	for c, on := range n.classes {
		if on != nil && on.usual > 0 && (best < 0 || x.before(on, cluster.ClassID(c), n.classes[best], cluster.ClassID(best))) {
			best = c
		}
	}
	if best < 0 {
		return 0
	}
	d := math.Round(float64(n.classes[best].usual) * x.ratio(class, cluster.ClassID(best)))
	return int64(min(max(d, 1), float64(cluster.MaxDuration)))
}

// before orders classes by how much is known of them, and then by name: their ids depend on chance.
func (x *experience) before(a *onClass, of cluster.ClassID, b *onClass, than cluster.ClassID) bool {
	return a.count > b.count || a.count == b.count && x.classes.ClassName(of) < x.classes.ClassName(than)
}

// ratio is how much longer tasks take on one class than on another: the median over the names seen on both, of those used
// last; 1: there is none.
func (x *experience) ratio(class, than cluster.ClassID) float64 {
	pair := [2]cluster.ClassID{class, than}
	if r, ok := x.ratios[pair]; ok {
		return r
	}
	ratios := x.shares[:0]
	for n, looks := x.newest, ratioLooks; n != nil && looks > 0 && len(ratios) < ratioNames; n, looks = n.older, looks-1 {
		if a, b := n.usualOn(class), n.usualOn(than); a > 0 && b > 0 {
			ratios = append(ratios, float64(a)/float64(b))
		}
	}
	r := 1.0
	if len(ratios) > 0 {
		slices.Sort(ratios)
		r = math.Sqrt(ratios[(len(ratios)-1)/2] * ratios[len(ratios)/2])
	}
	x.ratios[pair] = r
	return r
}

func (n *named) usualOn(class cluster.ClassID) int64 {
	if int(class) < len(n.classes) && n.classes[class] != nil {
		return n.classes[class].usual
	}
	return 0
}

// ready brings what is expected of a name up to date before its tasks are placed: ratios and classes may be new.
func (x *experience) ready(n *named) {
	if n != nil && (n.epoch != x.epoch || len(n.learned.Durations) < len(x.classes.names)) {
		x.expect(n)
	}
}

// profiled takes what the profile says of a name, once.
func (x *experience) profiled(n *named, k *cluster.Kind) {
	if n.typed {
		return
	}
	n.typed, n.mode = true, x.classes.types[k.Type].modes[k.Mode]
	for _, on := range n.classes {
		if on != nil {
			on.count = 0 // all that others told of counts for or against the profile
		}
	}
	x.refreshAll(n)
}
