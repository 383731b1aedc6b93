package conf

import "slices"

// Class is a kind of node.
type Class struct {
	Name     string             `toml:"name"`
	Cores    float64            `toml:"cores"`
	MemoryMB int64              `toml:"memory_mb"` // MiB
	DiskMB   int64              `toml:"disk_mb"`   // MiB
	Count    int                `toml:"count"`     // workers, when one process runs the whole cluster
	Slots    int                `toml:"slots"`     // concurrent tasks; 0: one per whole core, at least 1
	Extra    map[string]float64 `toml:"extra,omitempty"`
}

// TaskType is a kind of task: how a worker runs it and what it needs.
type TaskType struct {
	Name     string   `toml:"name"`
	Executor string   `toml:"executor"`
	Image    string   `toml:"image,omitempty"` // executor docker
	Argv     []string `toml:"argv,omitempty"`
	Modes    []Mode   `toml:"mode,omitempty"` // empty: any mode, submissions bring their own figures
}

// Mode is one size of a task type. Its own shape holds on classes without a profile; it may be left
// out as a whole.
type Mode struct {
	Name string   `toml:"name"`
	Argv []string `toml:"argv,omitempty"` // appended to the type's
	Shape
	Profiles []Profile `toml:"profile,omitempty"`
}

// Profile is what a mode needs on one class.
type Profile struct {
	Class string `toml:"class"`
	Shape
}

// Shape is a demand and an estimated duration.
type Shape struct {
	Cores    float64            `toml:"cores,omitzero"`
	MemoryMB int64              `toml:"memory_mb,omitzero"` // MiB
	DiskMB   int64              `toml:"disk_mb,omitzero"`   // MiB
	Duration Duration           `toml:"duration,omitzero"`
	Extra    map[string]float64 `toml:"extra,omitempty"`
}

func (s *Shape) given() bool {
	return s.Cores != 0 || s.MemoryMB != 0 || s.DiskMB != 0 || s.Duration != 0 || len(s.Extra) > 0
}

// Class returns the class called name.
func (c *Config) Class(name string) (Class, bool) {
	for _, class := range c.Classes {
		if class.Name == name {
			return class, true
		}
	}
	return Class{}, false
}

// ClassNames lists the classes in their order.
func (c *Config) ClassNames() []string {
	var names []string
	for _, class := range c.Classes {
		names = append(names, class.Name)
	}
	return names
}

// Workers is how many workers the cluster has.
func (c *Config) Workers() int {
	n := 0
	for _, class := range c.Classes {
		n += class.Count
	}
	return n
}

// ManagesDisk reports whether any node declares a disk. A cluster that declares none does not manage
// disks, as in the paper, and what a trace says about them is left out.
func (c *Config) ManagesDisk() bool {
	return slices.ContainsFunc(c.Classes, func(class Class) bool { return class.DiskMB > 0 })
}

// Lists of tables are addressed by name in overrides and in error messages, where elements have one.
type named interface{ tableName() string }

func (c Class) tableName() string    { return c.Name }
func (t TaskType) tableName() string { return t.Name }
func (m Mode) tableName() string     { return m.Name }
func (p Profile) tableName() string  { return p.Class }
