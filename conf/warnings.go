package conf

import (
	"fmt"
	"maps"
	"slices"
)

// Warnings lists what is allowed but rarely meant.
func (c *Config) Warnings() []string {
	var all []string
	bound := float64(2*c.Datastore.B) / float64(c.Scheduler.Replicas)
	if float64(c.Scheduler.BDelta) > bound {
		all = append(all, fmt.Sprintf("scheduler.b_delta is %d, above 2b/S = %g (b = %d, S = %d): "+
			"a scheduler may not contribute before the next push", c.Scheduler.BDelta, bound, c.Datastore.B, c.Scheduler.Replicas))
	}
	for _, class := range c.Classes {
		if modes := c.unmeasured(class.Name); len(modes) > 0 && class.Count > 0 {
			all = append(all, fmt.Sprintf("task types have figures, but none for class %q: %s; there the submission's own hold "+
				"(dodoor profile measures them)", class.Name, some(modes)))
		}
	}
	if len(c.Types)+len(c.Process.Allow)+len(c.Docker.Images) == 0 && c.Worker.Executor == "" {
		all = append(all, "there are no task types, and no commands are allowed: a worker does not start without either")
	}
	for _, t := range c.Types {
		if t.Executor == processExecutor && c.Worker.Executor == "" && !c.Process.allows(t.Argv[0]) {
			all = append(all, fmt.Sprintf("task type %s runs %s, which process.allow does not list: a worker with this list would refuse it", t.Name,
				t.Argv[0]))
		}
	}
	for _, s := range c.Services() {
		if err := c.Security.Permits("the address of "+s.Name, s.Listen()); err != nil {
			all = append(all, fmt.Sprintf("%v: no service of such a host starts", err))
			break // others are likely to be the same
		}
	}
	for _, name := range c.absentClasses() {
		all = append(all, fmt.Sprintf("task types have a profile for class %q, which this cluster does not have", name))
	}
	return append(all, c.sharedDevices()...)
}

// sharedDevices lists what several workers would have of which there is but one, were they on one machine.
func (c *Config) sharedDevices() (all []string) {
	if c.Worker.Executor == sleepExecutor || len(c.Hosts) > 0 {
		return nil
	}
	for _, extra := range slices.Sorted(maps.Keys(c.Worker.Devices)) {
		workers := 0
		for _, class := range c.classesWith(extra) {
			workers += class.Count
		}
		if len(c.Worker.Devices[extra].IDs) > 0 && workers > 1 {
			all = append(all, fmt.Sprintf("worker.devices.%s.ids is of each of %d workers: dodoor local does not start them, "+
				"unless tasks are emulated", extra, workers))
		}
	}
	return all
}

// absentClasses lists the classes that profiles speak of and that no [[class]] describes.
func (c *Config) absentClasses() []string {
	var absent []string
	for _, t := range c.Types {
		for _, m := range t.Modes {
			for _, p := range m.Profiles {
				if _, ok := c.Class(p.Class); !ok && !slices.Contains(absent, p.Class) {
					absent = append(absent, p.Class)
				}
			}
		}
	}
	return absent
}

// unmeasured lists the types and modes that have figures for some class, and none for the given one.
func (c *Config) unmeasured(class string) []string {
	var modes []string
	for _, t := range c.Types {
		for _, m := range t.Modes {
			isClass := func(p Profile) bool { return p.Class == class }
			if len(m.Profiles) > 0 && !m.given() && !slices.ContainsFunc(m.Profiles, isClass) {
				modes = append(modes, t.Name+" "+m.Name)
			}
		}
	}
	return modes
}

// some shortens a list for a message.
func some(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", listed(names[:shown]), more)
	}
	return listed(names)
}
