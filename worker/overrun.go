package worker

import (
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// overruns knows which tasks run longer than estimated, and how long such tasks ran here. A report's D is the sum of
// estimates (the paper's), so that a task estimated at a second would count a second for as long as it runs, and whoever
// expects waits would take its node for free. Such a task counts its estimate, as before, or what is still to come, if that is
// more: D does not fall as the estimate passes, and never says less than what is expected. (Their sum counts what is over
// twice: it makes nodes look worse than they are.) Nothing of this is in the node's load, which stays a sum of what was
// placed and ends at zero.
type overruns struct {
	on      bool
	running []*task
	seen    [seenRatios]ratio
	ended   int // ever seen

	over time.Duration // no running task is past its estimate before; never: none runs
	due  time.Duration // nor does one have to be reported
}

// ratio is how many times its estimate a task ran.
type ratio struct {
	kind  kind
	times float64
}

// kind is what tasks have in common whose estimates are wrong alike.
type kind struct{ program, mode string }

const (
	seenRatios  = 64 // the newest are kept
	enoughAlike = 8  // of one kind speak for it alone
	never       = time.Duration(math.MaxInt64)
)

// grace is what a task runs past its estimate before that is news, as a share of the estimate. Emulated tasks end at their
// estimates, but for what a timer is late.
const grace = 1.0 / 8

func newOverruns(on bool) overruns { return overruns{on: on, over: never, due: never} }

// estimated is how long t runs by its estimate. An estimate of nothing counts as the least that there is.
func (t *task) estimated() time.Duration {
	return time.Duration(float64(max(t.shape.Duration, 1)) * float64(time.Millisecond) / t.scale)
}

// ran is how long t has run, whatever the clock did.
func (t *task) ran(now time.Duration) time.Duration { return max(0, now-t.started) }

func (t *task) kind() kind {
	if t.command != nil {
		return kind{t.command.Digest, ""}
	}
	return kind{t.prog.name, t.mode}
}

// begin takes a task that starts.
func (o *overruns) begin(t *task) {
	if !o.on {
		return
	}
	estimated := t.estimated()
	t.place, t.reported = len(o.running), t.started+estimated+time.Duration(grace*float64(estimated))
	o.running = append(o.running, t)
	o.over, o.due = min(o.over, t.started+estimated), min(o.due, t.reported)
}

// end takes a task that ran. Only those that finished say how long tasks take.
func (o *overruns) end(t *task) {
	if !o.on {
		return
	}
	last := len(o.running) - 1
	o.running[t.place] = o.running[last]
	o.running[t.place].place = t.place
	o.running[last] = nil
	if o.running = o.running[:last]; last == 0 {
		o.over, o.due = never, never
	}
	if t.result.Outcome == cluster.Finished {
		o.seen[o.ended%seenRatios] = ratio{t.kind(), t.ratio(t.ended)}
		o.ended++
	}
}

// ratio is how many times its estimate t has run.
func (t *task) ratio(now time.Duration) float64 { return float64(t.ran(now)) / float64(t.estimated()) }

// remaining is how much longer than now a task is expected to run that is past its estimate: as long as the median of those
// that ran longer than it has; where none did, as long again.
func (o *overruns) remaining(now time.Duration, t *task) time.Duration {
	var alike, all [seenRatios]float64
	same, longerAlike, longer := 0, 0, 0
	kind, has := t.kind(), t.ratio(now)
	for _, r := range o.seen[:min(o.ended, seenRatios)] {
		if r.times > has {
			all[longer] = r.times
			longer++
		}
		if r.kind != kind {
			continue
		}
		if same++; r.times > has {
			alike[longerAlike] = r.times
			longerAlike++
		}
	}
	above := all[:longer]
	if same >= enoughAlike {
		above = alike[:longerAlike]
	}
	if len(above) == 0 {
		return t.ran(now)
	}
	slices.Sort(above)
	return max(0, span(above[(len(above)-1)/2]*float64(t.estimated()))-t.ran(now))
}

// span is a duration of so many nanoseconds, or the longest one that leaves room for a sum.
func span(ns float64) time.Duration { return time.Duration(math.Min(ns, math.MaxInt64/2)) }

// extra is what running tasks that are past their estimates add to the load that is reported.
func (o *overruns) extra(now time.Duration) (more cluster.Load) {
	if now <= o.over {
		return more
	}
	o.over = never
	for _, t := range o.running {
		ends := t.started + t.estimated()
		o.over = min(o.over, ends)
		if now <= ends {
			continue
		}
		left := int64(math.Min(math.Ceil(float64(o.remaining(now, t))*t.scale/float64(time.Millisecond)), float64(cluster.MaxDuration)))
		beyond := max(0, left-t.shape.Duration)
		more.Duration += beyond
		more.Work += t.shape.Demand[cluster.Cores] * beyond
	}
	return more
}

// Overran takes a moment that Due named: a report is due when a task has passed its estimate, and when it has run twice, four
// times ... as long.
func (n *Node) Overran(now time.Duration) Actions {
	var actions Actions
	o := &n.overruns
	if now < o.due {
		return actions
	}
	o.due = never
	for _, t := range o.running {
		if now >= t.reported {
			actions.Report = true
			next := t.estimated()
			for next <= t.ran(now) && next < never/2 {
				next *= 2
			}
			t.reported = t.started + next
		}
		o.due = min(o.due, t.reported)
	}
	return actions
}

// Due returns when Overran is to be called; 0: not before another verb. The moment of a task that has ended since may be among
// those that it names.
func (n *Node) Due() time.Duration {
	if n.overruns.due == never {
		return 0
	}
	return n.overruns.due
}
