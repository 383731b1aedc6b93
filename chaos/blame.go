package chaos

import (
	"math"
	"slices"
	"time"

	"dodoor/sim"
)

// grace is how long a fault is felt once it is over and nothing else is in the way: services find each other again, and whoever waited for
// an answer asks again. What was placed or submitted later has nothing to do with it.
const grace = 3 * time.Second

// felt returns until when each fault is felt. Nobody finds out about it while another one is in the way, so that one's time counts as well,
// as does what follows on that in turn. A fault without an end is felt for ever.
func felt(faults []sim.Fault) []time.Duration {
	until := make([]time.Duration, len(faults))
	for i := range faults {
		until[i] = traces(&faults[i])
		for next := true; next; {
			next = false
			for j := range faults {
				if later := traces(&faults[j]); faults[j].At <= until[i] && later > until[i] {
					until[i], next = later, true
				}
			}
		}
	}
	return until
}

// traces is when those of one fault alone are gone.
func traces(f *sim.Fault) time.Duration {
	if f.Until == 0 {
		return math.MaxInt64
	}
	return f.Until + grace
}

// blamed reports whether a fault of this kind may be why something happened to a task: it was felt at some time from the task's
// submission until the given time.
func (e *evidence) blamed(t *testimony, until time.Duration, kind func(*sim.Fault) bool) bool {
	for i := range e.scenario.Faults {
		if f := &e.scenario.Faults[i]; f.At <= until+e.slack && e.felt[i] >= t.At-e.slack && kind(f) {
			return true
		}
	}
	return false
}

// whichever is every kind of fault.
func whichever(*sim.Fault) bool { return true }

// ends reports whether a fault ends a process, which takes with it what it kept in memory only.
func ends(f *sim.Fault) bool {
	return slices.Contains([]string{sim.Dies, sim.Restarts, sim.Upgrades, sim.Clock}, f.How)
}

// severs reports whether a fault ends a worker or a scheduler, or keeps one from being heard. What only the data service does not
// hear of is no reason to take a task for lost.
func severs(f *sim.Fault) bool {
	onlyData := func(side []string) bool {
		return !slices.ContainsFunc(side, func(name string) bool { return name != sim.FaultDatastore })
	}
	switch f.What {
	case sim.FaultDatastore:
		return false
	case sim.FaultNetwork:
		return f.How != sim.Duplicates && !onlyData(f.Between) && !onlyData(f.And)
	}
	return true
}

// advanced is by how much the clocks of hosts were set forward: what a journal has of a time before that seems to be so much older.
func (e *evidence) advanced() (sum time.Duration) {
	for i := range e.scenario.Faults {
		sum += max(0, e.scenario.Faults[i].Step)
	}
	return sum
}

// forgot reports whether a scheduler that had accepted the task ended after that, and before the given time. One that refuses
// connections is as good as gone to its clients: nobody listens at its address.
func (e *evidence) forgot(t *testimony, until time.Duration) bool {
	return slices.ContainsFunc(t.submitted, func(r Record) bool {
		return r.Answer == Accepted && e.blamed(t, until, func(f *sim.Fault) bool {
			return f.What == sim.FaultScheduler && f.Name == r.Scheduler && (ends(f) || f.How == sim.Refuses)
		})
	})
}
