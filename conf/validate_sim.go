package conf

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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
		oneOf(r, path, quirk, durationDrift)
		quirks.add(path, quirk)
	}
	for i := range s.Faults {
		s.Faults[i].validate(r, index("sim.fault", i))
	}
}

func (f *Fault) validate(r *report, path string) {
	required(r, path+".what", f.What)
	oneOf(r, path+".what", f.What, FaultWorker, FaultClass, FaultScheduler, FaultDatastore)
	between(r, path+".at", f.At, 0, longest)
	if f.Until != 0 && (f.Until <= f.At || f.Until > longest) {
		r.add(path+".until", "must be 0s (never) or above at (%v) and at most %v, found %v", f.At, longest, f.Until)
	}
}

// checkFaults looks up what the faults name. The names are those that a cluster in one process
// gives: <class>-1 to <class>-<count>, scheduler-1 to scheduler-<replicas>.
func (c *Config) checkFaults(r *report) {
	for i, f := range c.Sim.Faults {
		path, known := index("sim.fault", i)+".name", true
		var names []string
		switch f.What {
		case FaultDatastore:
			if f.Name != "" {
				r.add(path, "must be empty for the datastore, found %.80q: there is only one", f.Name)
			}
		case FaultClass:
			_, known = c.Class(f.Name)
			names = c.classNames()
		case FaultWorker:
			class, number := cutNumber(f.Name)
			found, ok := c.Class(class)
			known = ok && numbered(number, found.Count)
			for _, class := range c.Classes {
				names = appendRange(names, class.Name, class.Count)
			}
		case FaultScheduler:
			group, number := cutNumber(f.Name)
			known = group == "scheduler" && numbered(number, c.Scheduler.Replicas)
			names = appendRange(names, "scheduler", c.Scheduler.Replicas)
		}
		if !known {
			r.add(path, "no %s is called %.80q: there are %s", f.What, f.Name, listed(names))
		}
	}
}

// cutNumber splits a name such as c6525-25g-3 into its group and the number in it.
func cutNumber(name string) (group, number string) {
	at := max(0, strings.LastIndexByte(name, '-'))
	return name[:at], strings.TrimPrefix(name[at:], "-")
}

// numbered tells whether number is one of 1 to most, written as names have it.
func numbered(number string, most int) bool {
	k, err := strconv.Atoi(number)
	return err == nil && k >= 1 && k <= most && strconv.Itoa(k) == number
}

// appendRange appends the names group-1 to group-count, for people.
func appendRange(names []string, group string, count int) []string {
	switch {
	case count < 1:
		return names
	case count == 1:
		return append(names, group+"-1")
	}
	return append(names, fmt.Sprintf("%s-1 to %s-%d", group, group, count))
}
