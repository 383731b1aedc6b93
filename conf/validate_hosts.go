package conf

import (
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dodoor/internal/cluster"
)

// What ssh and shells get to see holds nothing that they could take for anything else.
var (
	hostPattern   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$`)
	loginPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]{0,63}$`)
	folderPattern = regexp.MustCompile(`^[A-Za-z0-9._/-]*[A-Za-z0-9._-]$`)
)

func (k *Cluster) validate(r *report) {
	identifier(r, "cluster.name", k.Name)
	sshUser(r, "cluster.user", k.User)
	sshJump(r, "cluster.jump", k.Jump)
	folder(r, "cluster.folder", k.Folder)
	oneOf(r, "cluster.supervision", k.Supervision, SupervisionAuto, SupervisionSystemd, SupervisionOwn)
	between(r, "cluster.parallel", k.Parallel, 1, 1000)
	span(r, "cluster.ssh_timeout", k.SSHTimeout)
}

func (c *Config) validateHosts(r *report) {
	if len(c.Hosts) == 0 {
		return
	}
	names, ports := newUnique(r), newUnique(r)
	for i := range c.Hosts {
		h, path := &c.Hosts[i], index("host", i)
		required(r, path+".name", h.Name)
		required(r, path+".address", h.Address)
		identifier(r, path+".name", h.Name)
		names.add(path+".name", h.Name)
		hostName(r, path+".address", h.Address)
		if h.SSH != "" {
			name, port := h.SSHTarget()
			hostName(r, path+".ssh", name)
			if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
				r.add(path+".ssh", "must have a port between 1 and 65535, found %.80q", port)
			}
		}
		if h.User != c.Cluster.User { // what comes from the cluster is checked there
			sshUser(r, path+".user", h.User)
		}
		if h.Jump != c.Cluster.Jump {
			sshJump(r, path+".jump", h.Jump)
		}
		if h.Folder != c.Cluster.Folder {
			folder(r, path+".folder", h.Folder)
		}
		c.validateRoles(r, path, h)
		c.validatePorts(r, path, h, ports)
	}
	if n := len(c.with(RoleDatastore)); n != 1 {
		r.add("host", "one host must have the role %q, found %d", RoleDatastore, n)
	}
	for _, role := range []string{RoleScheduler, RoleWorker} {
		if len(c.with(role)) == 0 {
			r.add("host", "at least one host must have the role %q", role)
		}
	}
	for i, class := range c.Classes {
		if n := c.workersOf(class.Name); class.Count != n {
			r.add(index("class", i)+".count", "must be %d, the hosts of that class, or be left out, found %d", n, class.Count)
		}
	}
}

func (c *Config) validateRoles(r *report, path string, h *Host) {
	if len(h.Roles) == 0 {
		r.add(path+".roles", "must name at least one of %s", listed(Roles))
	}
	seen := newUnique(r)
	for j, role := range h.Roles {
		oneOf(r, index(path+".roles", j), role, Roles...)
		seen.add(index(path+".roles", j), role)
	}
	class, ok := c.Class(h.Class)
	switch {
	case len(h.Roles) == 0 || r.blamed[index(path+".roles", 0)]:
	case !h.Has(RoleWorker) && h.Class != "":
		r.add(path+".class", "has no meaning without the role %q", RoleWorker)
	case !h.Has(RoleWorker) || h.Class == AutoClass:
	case !ok:
		r.add(path+".class", "must be %q or the name of a class, found %q: there are %s", AutoClass, h.Class, listed(c.ClassNames()))
	case !c.fitsAny(class):
		r.add(path+".class", "no task type fits on a node of class %s: its worker would never get a task", class.Name)
	}
}

// validatePorts checks that no two services of one address share a port.
func (c *Config) validatePorts(r *report, path string, h *Host, taken unique) {
	for _, p := range []struct {
		key  string
		port int
	}{{"datastore", h.Ports.Datastore}, {"scheduler", h.Ports.Scheduler}, {"worker", h.Ports.Worker}, {"http", h.Ports.HTTP}} {
		between(r, path+".ports."+p.key, p.port, 0, 65535)
	}
	between(r, path+".schedulers", h.Schedulers, 1, mostSchedulers)
	if r.blamed[path+".schedulers"] {
		return
	}
	for _, s := range c.servicesOn(h) {
		switch {
		case s.Port == 0:
			r.add(path+".ports."+s.Role, "must be a fixed port: others dial it, and %s.listen has none", s.Role)
		case s.Port > 65535 || s.HTTP > 65535:
			r.add(path+".ports."+s.Role, "leave no ports for all services of this host")
		default:
			taken.add(path+".ports."+s.Role, s.Dial())
		}
		if s.HTTP > 0 {
			taken.add(path+".ports.http", net.JoinHostPort(h.Address, strconv.Itoa(s.HTTP)))
		}
	}
}

// fitsAny tells whether a node of the class can run any mode of any task type. Where a type or a mode has no figures,
// submissions bring their own; a cluster without types runs only those.
func (c *Config) fitsAny(class Class) bool {
	dims, err := c.Dimensions()
	if err != nil || len(c.Types) == 0 {
		return true
	}
	capacity := class.Capacity(dims)
	fits := func(m cluster.Mode) bool {
		shape, ok := m.PerClass[class.Name]
		if !ok && m.Default != nil {
			shape, ok = *m.Default, true
		}
		return ok && shape.Demand.FitsEmpty(&capacity) || m.Default == nil && len(m.PerClass) == 0
	}
	return slices.ContainsFunc(c.TaskTypes(), func(t cluster.TaskType) bool {
		return len(t.Modes) == 0 || slices.ContainsFunc(t.Modes, fits)
	})
}

func hostName(r *report, path, found string) {
	if net.ParseIP(found) == nil && !hostPattern.MatchString(found) {
		r.add(path, "must be a host's name or IP address, found %.80q", found)
	}
}

func sshUser(r *report, path, found string) {
	if found != "" && !loginPattern.MatchString(found) {
		r.add(path, "must be a user's name, found %.80q", found)
	}
}

// sshJump checks [user@]host[:port].
func sshJump(r *report, path, found string) {
	if found == "" {
		return
	}
	user, host, both := strings.Cut(found, "@")
	if !both {
		user, host = "", found
	}
	name, port := (&Host{SSH: host}).SSHTarget()
	_, err := strconv.ParseUint(port, 10, 16)
	if both && !loginPattern.MatchString(user) || net.ParseIP(name) == nil && !hostPattern.MatchString(name) || port != "" && err != nil {
		r.add(path, "must be host, user@host or user@host:port, found %.80q", found)
	}
}

func folder(r *report, path, found string) {
	if !folderPattern.MatchString(found) || slices.Contains(strings.Split(found, "/"), "..") || strings.HasPrefix(found, "-") {
		r.add(path, "must be a folder of letters, digits, dots, dashes, underscores and slashes, without .., found %.80q", found)
	}
}
