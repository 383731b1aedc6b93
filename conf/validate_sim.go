package conf

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/cluster"
	"dodoor/sim"
)

// slowestMessage bounds what one message may take, far above any network and far below the end of
// the clock.
const slowestMessage = Duration(time.Minute)

func (s *Sim) validate(r *report) {
	between(r, "sim.delay", s.Delay, 0, slowestMessage)
	between(r, "sim.scheduler_cost", s.SchedulerCost, 0, slowestMessage)
	between(r, "sim.datastore_cost", s.DatastoreCost, 0, slowestMessage)
	between(r, "sim.worker_cost", s.WorkerCost, 0, slowestMessage)
	between(r, "sim.interference", s.Interference, 0, 10)
	between(r, "sim.skew", s.Skew, 0, 1)
	quirks := newUnique(r)
	for i, quirk := range s.Quirks {
		path := index("sim.quirks", i)
		oneOf(r, path, quirk, sim.Quirks()...)
		quirks.add(path, quirk)
	}
	between(r, "sim.change.from", s.Change.From, 0, 1)
	between(r, "sim.change.factor", s.Change.Factor, 0.001, 1000)
	for i := range s.Faults {
		s.Faults[i].validate(r, index("sim.fault", i))
	}
}

func (f *Fault) validate(r *report, path string) {
	required(r, path+".what", f.What)
	oneOf(r, path+".what", f.What, sim.FaultWorker, sim.FaultClass, sim.FaultScheduler, sim.FaultDatastore)
	between(r, path+".at", f.At, 0, Duration(cluster.LongestDuration))
	if f.Until != 0 && (f.Until <= f.At || f.Until > Duration(cluster.LongestDuration)) {
		r.add(path+".until", "must be 0s (never) or above at (%v) and at most %v, found %v", f.At, cluster.LongestDuration, f.Until)
	}
}

// checkChange looks up whose time changes.
func (c *Config) checkChange(r *report) {
	var names []string
	for i := range c.Types {
		names = append(names, c.Types[i].Name)
	}
	if name := c.Sim.Change.Type; name != "" && !slices.Contains(names, name) {
		r.add("sim.change.type", "no task type is called %.80q: there are %s", name, listed(names))
	}
}

// checkFaults looks up what the faults name. The names are those that a cluster in one process
// gives.
func (c *Config) checkFaults(r *report) {
	if c.Scheduler.Policy == sim.Oracle && len(c.Sim.Faults) > 0 {
		r.add("sim.fault", "must be left out with policy %q: it knows what was placed, not what will fail", sim.Oracle)
	}
	for i, f := range c.Sim.Faults {
		path, known := index("sim.fault", i)+".name", true
		var names []string
		switch f.What {
		case sim.FaultDatastore:
			if f.Name != "" {
				r.add(path, "must be empty for the datastore, found %.80q: there is only one", f.Name)
			}
		case sim.FaultClass:
			_, known = c.Class(f.Name)
			names = c.ClassNames()
		case sim.FaultWorker:
			known = false
			for _, class := range c.Classes {
				is, all := among(f.Name, class.Count, func(i int) string { return cluster.WorkerName(class.Name, i) })
				known, names = known || is, append(names, all...)
			}
		case sim.FaultScheduler:
			known, names = among(f.Name, c.Scheduler.Replicas, cluster.SchedulerName)
		}
		if !known {
			r.add(path, "no %s is called %.80q: there are %s", f.What, f.Name, listed(names))
		}
	}
}

// among looks up a name among those of so many members, and says which there are, for people.
func among(found string, count int, name func(i int) string) (known bool, names []string) {
	k, _ := strconv.Atoi(found[strings.LastIndexByte(found, '-')+1:])
	known = k >= 1 && k <= count && name(k-1) == found
	switch {
	case count < 1:
		return false, nil
	case count == 1:
		return known, []string{name(0)}
	}
	return known, []string{name(0) + " to " + name(count-1)}
}
