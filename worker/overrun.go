package worker

import (
	"math"
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
	seen    ratios

	due  time.Duration // no running task has to be reported before; never: none runs
	next time.Duration // nor would it be, since one just was

	sum    cluster.Load  // of what running tasks add, as of a moment, without those that have ended since
	as     time.Duration // that moment
	summed bool
}

const never = time.Duration(math.MaxInt64)

// grace is what a task runs past its estimate before that is news, as a share of the estimate. Emulated tasks end at their
// estimates, but for what a timer is late.
const grace = 1.0 / 8

// patience is what a task runs past its estimate at least before that is news, and what passes between two reports of such
// news: however many short tasks run long, a node sends ten reports a second for them, and not some for each.
const patience = 100 * time.Millisecond

// sumHolds is how long a sum holds. Reports and probes are many, and what they say is a guess: it may be this old, so that
// what it costs depends on time, and not on how many ask.
const sumHolds = 10 * time.Millisecond

func newOverruns(on bool) overruns { return overruns{on: on, due: never} }

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
	t.place, t.reported = len(o.running), t.started+estimated+max(patience, time.Duration(grace*float64(estimated)))
	o.running = append(o.running, t)
	o.due = min(o.due, t.reported)
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
		o.due = never
	}
	o.sum = o.sum.Sub(t.longer())
	t.beyond = 0
	if t.result.Outcome == cluster.Finished {
		o.seen.add(t.kind(), t.ratio(t.ended))
	}
}

// ratio is how many times its estimate t has run.
func (t *task) ratio(now time.Duration) float64 { return float64(t.ran(now)) / float64(t.estimated()) }

// longer is what t adds to the load that is reported, as of the last sum.
func (t *task) longer() cluster.Load {
	return cluster.Load{Duration: t.beyond, Work: t.shape.Demand[cluster.Cores] * t.beyond}
}

// remaining is how much longer than now a task is expected to run that is past its estimate: as long as the median of those
// that ran longer than it has; where none did, as long again.
func (o *overruns) remaining(now time.Duration, t *task) time.Duration {
	median, some := o.seen.longer(t.kind(), t.ratio(now))
	if !some {
		return t.ran(now)
	}
	return max(0, span(median*float64(t.estimated()))-t.ran(now))
}

// span is a duration of so many nanoseconds, or the longest one that leaves room for a sum.
func span(ns float64) time.Duration { return time.Duration(math.Min(ns, math.MaxInt64/2)) }

// extra is what running tasks that are past their estimates add to the load that is reported.
func (o *overruns) extra(now time.Duration) cluster.Load {
	if !o.summed || now < o.as || now-o.as >= sumHolds {
		o.add(now)
	}
	return o.sum
}

// add works the sum out.
func (o *overruns) add(now time.Duration) {
	o.sum, o.as, o.summed = cluster.Load{}, now, true
	for _, t := range o.running {
		if t.beyond = 0; now <= t.started+t.estimated() {
			continue
		}
		left := math.Ceil(float64(o.remaining(now, t)) * t.scale / float64(time.Millisecond))
		t.beyond = max(0, int64(math.Min(left, float64(cluster.MaxDuration)))-t.shape.Duration)
		o.sum = o.sum.Add(t.longer())
	}
}

// Overran takes a moment that Due named: a report is due when a task has run a while past its estimate, and when it has run
// twice, four times ... as long.
func (n *Node) Overran(now time.Duration) Actions {
	var actions Actions
	o := &n.overruns
	if now < max(o.due, o.next) {
		return actions
	}
	o.due = never
	for _, t := range o.running {
		if now >= t.reported {
			actions.Report, o.next = true, now+patience
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
	return max(n.overruns.due, n.overruns.next)
}
