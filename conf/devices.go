package conf

import (
	"maps"
	"regexp"
	"slices"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// Devices is what a worker says of its devices: of an extra whose capacity is a whole number.
type Devices struct {
	IDs      []string `toml:"ids"`      // as many as the capacity; none: 0, 1, 2 and so on
	Variable string   `toml:"variable"` // by which programs find theirs; empty: none
	Docker   string   `toml:"docker"`   // driver of Docker's device request; empty: there is none
}

// setName gives the devices of an extra their defaults, which depend on its name.
func (d *Devices) setName(extra string) {
	if extra == "gpu" {
		d.Variable, d.Docker = "CUDA_VISIBLE_DEVICES", "nvidia"
	}
}

// A table of tables starts each from what its name says.
type namer interface{ setName(name string) }

func devicesCalled(extra string) *Devices {
	d := &Devices{}
	d.setName(extra)
	return d
}

// inheritDevices gives the devices of a host, key by key, what the worker's section says and the host's does not.
func (c *Config) inheritDevices(r *report, i int) {
	for name, own := range c.Hosts[i].Devices {
		general, path := c.Worker.Devices[name], join(index("host", i)+".devices", name)
		if general == nil {
			continue
		}
		if !r.written(path + ".ids") {
			own.IDs = general.IDs
		}
		if !r.written(path + ".variable") {
			own.Variable = general.Variable
		}
		if !r.written(path + ".docker") {
			own.Docker = general.Docker
		}
	}
}

// devicesOn returns the devices of a host's worker, or of one that is on no host.
func (c *Config) devicesOn(h *Host) map[string]*Devices {
	all := maps.Clone(c.Worker.Devices)
	if h == nil || len(h.Devices) == 0 {
		return all
	}
	if all == nil {
		all = map[string]*Devices{}
	}
	maps.Copy(all, h.Devices)
	return all
}

// printedDevices are those that print every key.
func printedDevices(all map[string]*Devices) map[string]*Devices {
	printed := map[string]*Devices{}
	for name, d := range all {
		whole := *d
		if whole.IDs == nil {
			whole.IDs = []string{}
		}
		printed[name] = &whole
	}
	return printed
}

// DevicesCalled returns what the worker says of the devices of an extra.
func (c *Config) DevicesCalled(extra string) Devices {
	if d := c.Worker.Devices[extra]; d != nil {
		return *d
	}
	return *devicesCalled(extra)
}

// DevicesOf returns what this worker says of the devices of every extra that its capacity has.
func (c *Config) DevicesOf(dims cluster.Dimensions, capacity *cluster.Resources) map[string]worker.Devices {
	all := map[string]worker.Devices{}
	for k := cluster.FirstExtra; k < dims.Len(); k++ {
		name := dims.Name(k)
		if d := c.DevicesCalled(name); capacity[k] > 0 {
			all[name] = worker.Devices{IDs: d.IDs, Variable: d.Variable, Driver: d.Docker}
		}
	}
	return all
}

var (
	devicePattern   = regexp.MustCompile(`^[!-+\--~]{1,128}$`)
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	driverPattern   = regexp.MustCompile(`^[A-Za-z0-9._-]{0,128}$`)
)

func (c *Config) validateDevices(r *report) {
	c.checkDevices(r, "worker.devices", c.Worker.Devices)
	for _, name := range slices.Sorted(maps.Keys(c.Worker.Devices)) {
		if ids := c.Worker.Devices[name].IDs; len(c.Hosts) == 0 && len(ids) > 0 {
			c.checkIDs(r, join("worker.devices", name), name, ids, c.classesWith(name))
		}
	}
	c.checkVariables(r, "worker.devices", c.devicesOn(nil))
	for i := range c.Hosts {
		h, path := &c.Hosts[i], index("host", i)+".devices"
		c.checkDevices(r, path, h.Devices)
		if len(h.Devices) > 0 {
			c.checkVariables(r, path, c.devicesOn(h))
		}
		class, known := c.Class(h.Class)
		for _, name := range slices.Sorted(maps.Keys(c.devicesOn(h))) {
			own, at := h.Devices[name], join(path, name)
			switch {
			case own != nil && !h.Has(RoleWorker):
				r.add(at, "has no meaning without the role %q", RoleWorker)
			case own != nil && (!known || class.Extra[name] == 0):
				r.add(at, "class %q has no %s", h.Class, name)
			case own != nil && len(own.IDs) > 0:
				c.checkIDs(r, at, name, own.IDs, []Class{class})
			case own == nil && known && class.Extra[name] > 0 && len(c.Worker.Devices[name].IDs) > 0:
				c.checkIDs(r, join("worker.devices", name), name, c.Worker.Devices[name].IDs, []Class{class})
			}
		}
	}
	c.checkDeviceNames(r)
	c.checkDeviceDemands(r)
}

// classesWith returns the classes with an extra of which workers are started: the worker's own where it has one, and otherwise
// all of which there are some.
func (c *Config) classesWith(extra string) []Class {
	if class, ok := c.Class(c.Worker.Class); ok && class.Extra[extra] > 0 {
		return []Class{class}
	}
	return slices.DeleteFunc(slices.Clone(c.Classes), func(class Class) bool { return class.Extra[extra] == 0 || class.Count == 0 })
}

// checkIDs checks that the ids are those of the devices of every one of some classes.
func (c *Config) checkIDs(r *report, path, extra string, ids []string, classes []Class) {
	dims, err := c.Dimensions()
	k, ok := dims.Index(extra)
	wrong := err != nil || !ok || r.blamed[path]
	for i := range ids {
		wrong = wrong || r.blamed[index(path+".ids", i)]
	}
	if wrong {
		return
	}
	for _, class := range classes {
		if _, err := dims.DeviceIDs(k, thousandths(class.Extra[extra]), ids); err != nil {
			r.add(path+".ids", "class %s: %v", class.Name, err)
			return
		}
	}
}

// checkDevices checks what can be said of devices without knowing how many there are.
func (c *Config) checkDevices(r *report, path string, all map[string]*Devices) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, at := all[name], join(path, name)
		if known := c.extras(); !slices.Contains(known, name) {
			r.add(at, "no class or task type has an extra called %.80q: there are %s", name, listed(known))
			continue
		}
		seen := newUnique(r)
		for i, id := range d.IDs {
			if !devicePattern.MatchString(id) {
				r.add(index(at+".ids", i), "must be 1 to 128 printable characters of ASCII without blanks and commas, found %.80q", id)
			}
			seen.add(index(at+".ids", i), id)
		}
		if d.Variable != "" && (!variablePattern.MatchString(d.Variable) || executor.Reserved(d.Variable)) {
			r.add(at+".variable", "must be the name of a variable that is no other's (not DODOOR_*, LD_*, PATH, HOME, TMPDIR and the like), "+
				"or empty, found %.80q", d.Variable)
		}
		if !driverPattern.MatchString(d.Docker) {
			r.add(at+".docker", "must be a driver of up to 128 letters, digits, dots, dashes or underscores, or empty, found %.80q", d.Docker)
		}
	}
}

// checkVariables checks that no two extras share a variable.
func (c *Config) checkVariables(r *report, path string, all map[string]*Devices) {
	taken := map[string]string{}
	for _, name := range c.extras() {
		d := all[name]
		if d == nil {
			d = devicesCalled(name)
		}
		if first, there := taken[d.Variable]; there && d.Variable != "" {
			r.add(join(path, name)+".variable", "%s is that of %s already", d.Variable, first)
		}
		taken[d.Variable] = name
	}
}

// checkDeviceNames checks that what tasks are told of the devices of one extra has a variable of its own.
func (c *Config) checkDeviceNames(r *report) {
	taken := map[string]string{}
	for i, class := range c.Classes {
		for _, name := range slices.Sorted(maps.Keys(class.Extra)) {
			if cluster.DeviceCount(cluster.FirstExtra, thousandths(class.Extra[name])) == 0 {
				continue
			}
			at, variable := join(index("class", i)+".extra", name), executor.DeviceVariable(name)
			if first, there := taken[variable]; there && first != name {
				r.add(at, "must have another name: tasks are told of %s by %s as well", first, variable)
			}
			if executor.Tells(variable) {
				r.add(at, "must have another name: %s tells tasks something else", variable)
			}
			taken[variable] = name
		}
	}
}

// checkDeviceDemands checks that no mode of a type splits devices on every class where it could run.
func (c *Config) checkDeviceDemands(r *report) {
	for i := range c.Types {
		for j := range c.Types[i].Modes {
			m, path := &c.Types[i].Modes[j], index(index("task_type", i)+".mode", j)
			general := slices.Clone(c.Classes)
			for k, p := range m.Profiles {
				isClass := func(class Class) bool { return class.Name == p.Class }
				general = slices.DeleteFunc(general, isClass)
				if at := slices.IndexFunc(c.Classes, isClass); at >= 0 {
					checkSplit(r, index(path+".profile", k), p.Extra, c.Classes[at:at+1])
				}
			}
			checkSplit(r, path, m.Extra, general)
		}
	}
}

// checkSplit reports demands that split the devices of all classes that have some of the extra.
func checkSplit(r *report, path string, demand map[string]float64, classes []Class) {
	for _, name := range slices.Sorted(maps.Keys(demand)) {
		with := slices.DeleteFunc(slices.Clone(classes), func(class Class) bool { return class.Extra[name] == 0 })
		holds := func(class Class) bool {
			return !cluster.SplitsDevices(cluster.FirstExtra, thousandths(demand[name]), thousandths(class.Extra[name]))
		}
		if len(with) > 0 && !slices.ContainsFunc(with, holds) {
			r.add(join(path+".extra", name), "must be up to 1 or a whole number, found %v: class %s has devices of it, of which a task gets whole "+
				"ones, or a part of one", demand[name], with[0].Name)
		}
	}
}
