package conf

import (
	"maps"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

func (c *Config) validateClasses(r *report) {
	total, names := 0, newUnique(r)
	for i, class := range c.Classes {
		path := index("class", i)
		required(r, path+".name", class.Name)
		required(r, path+".cores", class.Cores)
		required(r, path+".memory_mb", class.MemoryMB)
		identifier(r, path+".name", class.Name)
		if class.Name == AutoClass {
			r.add(path+".name", "must not be %q: hosts of that class detect their own", AutoClass)
		}
		names.add(path+".name", class.Name)
		amount(r, path+".cores", class.Cores, 0.001)
		between(r, path+".memory_mb", class.MemoryMB, 1, cluster.MaxAmount)
		between(r, path+".disk_mb", class.DiskMB, 0, cluster.MaxAmount)
		between(r, path+".count", class.Count, 0, manyNodes)
		between(r, path+".slots", class.Slots, 0, manyTasks)
		extras(r, path+".extra", class.Extra)
		total += min(max(class.Count, 0), manyNodes)
	}
	switch {
	case total > manyNodes:
		r.add("class", "must be at most %d workers in all, found %d", manyNodes, total)
	case c.workersOf(AutoClass) > 0: // they bring their classes
	case len(c.Classes) == 0:
		r.add("class", "no workers: describe at least one [[class]] of nodes")
	case !slices.ContainsFunc(c.Classes, func(c Class) bool { return c.Count != 0 }):
		r.add("class", "no workers: every class has count 0")
	}
}

func validateTypes(r *report, types []TaskType) {
	names := newUnique(r)
	for i := range types {
		t, path := &types[i], index("task_type", i)
		required(r, path+".name", t.Name)
		identifier(r, path+".name", t.Name)
		if t.Name == cluster.CommandType {
			r.add(path+".name", "must not be %q: tasks that bring their own command have that type", t.Name)
		}
		names.add(path+".name", t.Name)
		t.validateProgram(r, path)
		noZeroByte(r, path+".argv", t.Argv)
		modes := newUnique(r)
		for j := range t.Modes {
			at := index(path+".mode", j)
			modes.add(at+".name", t.Modes[j].Name)
			t.Modes[j].validate(r, at)
		}
	}
}

func (m *Mode) validate(r *report, path string) {
	required(r, path+".name", m.Name)
	identifier(r, path+".name", m.Name)
	if word := cluster.CanonicalMode(m.Name); word != m.Name {
		r.add(path+".name", "must be %q, found %q: the two are one mode", word, m.Name)
	}
	noZeroByte(r, path+".argv", m.Argv)
	if m.Shape.given() {
		m.Shape.validate(r, path)
	}
	classes := newUnique(r)
	for k := range m.Profiles {
		p, at := &m.Profiles[k], index(path+".profile", k)
		required(r, at+".class", p.Class)
		identifier(r, at+".class", p.Class)
		classes.add(at+".class", p.Class)
		p.Shape.validate(r, at)
	}
}

func (s *Shape) validate(r *report, path string) {
	required(r, path+".cores", s.Cores)
	required(r, path+".duration", s.Duration)
	amount(r, path+".cores", s.Cores, 0.001)
	between(r, path+".memory_mb", s.MemoryMB, 0, cluster.MaxAmount)
	between(r, path+".disk_mb", s.DiskMB, 0, cluster.MaxAmount)
	extras(r, path+".extra", s.Extra)
	milliseconds(r, path+".duration", s.Duration)
}

// milliseconds checks an estimate.
func milliseconds(r *report, path string, d Duration) {
	span(r, path, d)
	if time.Duration(d)%time.Millisecond != 0 {
		r.add(path, "must be a whole number of milliseconds, found %v", d)
	}
}

// extras checks amounts of named resources, in the order of their names.
func extras(r *report, path string, extra map[string]float64) {
	for _, resource := range slices.Sorted(maps.Keys(extra)) {
		at := join(path, resource)
		identifier(r, at, resource)
		amount(r, at, extra[resource], 0)
		if _, standard := cluster.Standard().Index(resource); standard {
			r.add(at, "must not be called %q: it has a key of its own", resource)
		}
	}
}
