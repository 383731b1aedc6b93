package chaos

import (
	"slices"
	"time"

	"dodoor/sim"
)

// grace is how long a fault is felt once it is over: services find each other again, and what had waited is done.
const grace = 15 * time.Second

// blamed reports whether a fault of this kind may be why something happened to a task: it was felt at some time from the task's
// submission until the given time.
func (e *evidence) blamed(t *testimony, until time.Duration, kind func(*sim.Fault) bool) bool {
	return slices.ContainsFunc(e.scenario.Faults, func(f sim.Fault) bool {
		return f.At <= until+e.slack && (f.Until == 0 || f.Until+grace+e.slack >= t.At) && kind(&f)
	})
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
		return r.Answer == Accepted && slices.ContainsFunc(e.scenario.Faults, func(f sim.Fault) bool {
			return f.What == sim.FaultScheduler && f.Name == r.Scheduler && (ends(&f) || f.How == sim.Refuses) && f.At <= until+e.slack &&
				(f.Until == 0 || f.Until+grace+e.slack >= t.At)
		})
	})
}
