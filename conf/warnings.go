package conf

import (
	"fmt"
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
	for _, name := range c.absentClasses() {
		all = append(all, fmt.Sprintf("task types have a profile for class %q, which this cluster does not have", name))
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
