package campaign

import (
	"fmt"

	"dodoor/conf"
)

// testbed is the paper's cluster and what is known of FunctionBench on it, as the profile says.
var testbed = loadBed("paper")

type bed struct{ c *conf.Config }

func loadBed(profile string) bed {
	c, err := conf.Load(profile, nil)
	if err != nil {
		panic(fmt.Sprintf("campaign: the profile %s, which ships with this program: %v", profile, err))
	}
	return bed{c}
}

// classes are the names of the node classes.
func (b bed) classes() []string {
	var names []string
	for _, class := range b.c.Classes {
		names = append(names, class.Name)
	}
	return names
}

// short calls do with every measurement of a task type in the short mode, all of one type together.
func (b bed) short(do func(task string, profiles []conf.Profile)) {
	for _, t := range b.c.Types {
		for _, m := range t.Modes {
			if m.Name == "short" {
				do(t.Name, m.Profiles)
			}
		}
	}
}

// speeds are the classes on which the longest task takes longest and shortest, and how many times as long.
func (b bed) speeds() (slowest, fastest string, ratio float64) {
	var longest conf.Duration
	b.short(func(_ string, profiles []conf.Profile) {
		least, most := profiles[0], profiles[0]
		for _, p := range profiles {
			if p.Duration < least.Duration {
				least = p
			}
			if p.Duration > most.Duration {
				most = p
			}
		}
		if most.Duration > longest {
			longest = most.Duration
			slowest, fastest, ratio = most.Class, least.Class, float64(most.Duration)/float64(least.Duration)
		}
	})
	return slowest, fastest, ratio
}

// equalDurations are overrides under which every task takes as long on every class as on one.
func (b bed) equalDurations(class string) []string {
	var sets []string
	b.short(func(task string, profiles []conf.Profile) {
		var as conf.Duration
		for _, p := range profiles {
			if p.Class == class {
				as = p.Duration
			}
		}
		for _, p := range profiles {
			sets = append(sets, fmt.Sprintf("task_type.%s.mode.short.profile.%s.duration=%v", task, p.Class, as))
		}
	})
	return sets
}
