package conf

import (
	"maps"
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Dimensions returns the resource dimensions of the cluster: the standard ones, and every extra
// that a class has or a task type needs. It fails when there are too many.
func (c *Config) Dimensions() (cluster.Dimensions, error) {
	return cluster.NewDimensions(c.extras()...)
}

// extras lists the names of the extra resources, in alphabetical order.
func (c *Config) extras() []string {
	extras := map[string]bool{}
	collect := func(extra map[string]float64) {
		for name := range extra {
			extras[name] = true
		}
	}
	for _, class := range c.Classes {
		collect(class.Extra)
	}
	for _, t := range c.Types {
		for _, m := range t.Modes {
			collect(m.Extra)
			for _, p := range m.Profiles {
				collect(p.Extra)
			}
		}
	}
	return slices.Sorted(maps.Keys(extras))
}

// Capacity returns what one node of the class holds, in the small units of dims.
func (c Class) Capacity(dims cluster.Dimensions) cluster.Resources {
	return amounts(dims, c.Cores, c.MemoryMB, c.DiskMB, c.Extra)
}

// SlotsOn returns how many tasks run at once on a node of class: the worker's own setting, or the
// class's, or one per whole core and at least one.
func (c *Config) SlotsOn(class Class) int {
	switch {
	case c.Worker.Slots > 0:
		return c.Worker.Slots
	case class.Slots > 0:
		return class.Slots
	}
	return max(1, int(class.Cores))
}

// TaskTypes returns the types in the cluster's vocabulary and units. It is nil where Dimensions
// fails, which Load refuses.
func (c *Config) TaskTypes() []cluster.TaskType {
	dims, err := c.Dimensions()
	if err != nil {
		return nil
	}
	var types []cluster.TaskType
	for _, t := range c.Types {
		converted := cluster.TaskType{Name: t.Name, Executor: t.Executor, Image: t.Image, Argv: slices.Clone(t.Argv)}
		for _, m := range t.Modes {
			converted.Modes = append(converted.Modes, m.convert(dims))
		}
		types = append(types, converted)
	}
	return types
}

func (m *Mode) convert(dims cluster.Dimensions) cluster.Mode {
	out := cluster.Mode{Name: m.Name, Argv: slices.Clone(m.Argv), PerClass: map[string]cluster.Shape{}}
	if m.Shape.given() {
		shape := m.Shape.convert(dims)
		out.Default = &shape
	}
	for _, p := range m.Profiles {
		out.PerClass[p.Class] = p.Shape.convert(dims)
	}
	return out
}

func (s *Shape) convert(dims cluster.Dimensions) cluster.Shape {
	return cluster.Shape{
		Demand:   amounts(dims, s.Cores, s.MemoryMB, s.DiskMB, s.Extra),
		Duration: time.Duration(s.Duration).Milliseconds(),
	}
}

func amounts(dims cluster.Dimensions, cores float64, memory, disk int64, extra map[string]float64) cluster.Resources {
	r := cluster.Resources{cluster.Cores: thousandths(cores), cluster.Memory: memory, cluster.Disk: disk}
	for name, amount := range extra {
		if k, ok := dims.Index(name); ok {
			r[k] = thousandths(amount)
		}
	}
	return r
}

func thousandths(amount float64) int64 { return int64(math.Round(amount * 1000)) }

// SmallestNode is what fits every node, in each dimension alone. Where no node declares a disk, disks are not
// managed, and anything fits.
func (c *Config) SmallestNode() (cluster.Resources, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return cluster.Resources{}, err
	}
	room := c.Classes[0].Capacity(dims)
	for _, class := range c.Classes[1:] {
		for k, amount := range class.Capacity(dims) {
			room[k] = min(room[k], amount)
		}
	}
	if !c.ManagesDisk() {
		room[cluster.Disk] = cluster.MaxAmount
	}
	return room, nil
}
