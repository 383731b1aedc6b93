package conf

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// The inventory of a cluster of many hosts: how they are reached, and who runs what. Every host gets the same file; OnHost
// tells a service what the inventory says of it.

// AutoClass is the class of a host whose worker counts cores and memory itself, and registers a class of its own.
const AutoClass = "auto"

// mostSchedulers is how many a cluster may have.
const mostSchedulers = 1000

// The roles of a host.
const (
	RoleDatastore = "datastore"
	RoleScheduler = "scheduler"
	RoleWorker    = "worker"
)

// Roles lists them in the order in which services start.
var Roles = []string{RoleDatastore, RoleScheduler, RoleWorker}

// Who keeps services running on the hosts.
const (
	SupervisionAuto    = "auto"    // systemd where a host has one that its user may use, Dodoor itself elsewhere
	SupervisionSystemd = "systemd" // hosts without are in error
	SupervisionOwn     = "own"
)

// Cluster is what the hosts share.
type Cluster struct {
	Name        string   `toml:"name"`        // of the units
	User        string   `toml:"user"`        // of ssh; empty: whom ssh itself takes
	Jump        string   `toml:"jump"`        // the host to go through, as ssh -J takes it; empty: none
	Folder      string   `toml:"folder"`      // on every host; relative: below the user's home
	Supervision string   `toml:"supervision"` // SupervisionAuto, SupervisionSystemd or SupervisionOwn
	Parallel    int      `toml:"parallel"`    // hosts at once
	SSHTimeout  Duration `toml:"ssh_timeout"` // of one command on one host
}

// Host is a machine of the cluster.
type Host struct {
	Name       string   `toml:"name"`
	Address    string   `toml:"address"` // what the other hosts dial: a name or an IP address
	SSH        string   `toml:"ssh"`     // what ssh dials, name or name:port; empty: Address
	User       string   `toml:"user"`    // empty: the cluster's
	Jump       string   `toml:"jump"`    // empty: the cluster's
	Folder     string   `toml:"folder"`  // empty: the cluster's
	Roles      []string `toml:"roles"`
	Schedulers int      `toml:"schedulers"` // processes of the role scheduler
	Class      string   `toml:"class"`      // of its worker: one of Classes, or AutoClass
	Ports      Ports    `toml:"ports"`

	Devices map[string]*Devices `toml:"devices,omitempty"` // by extra; what a key leaves open is the worker section's
}

// Ports are those of a host's first service of each role; 0: the port of the service's own listen key.
type Ports struct {
	Datastore int `toml:"datastore"`
	Scheduler int `toml:"scheduler"`
	Worker    int `toml:"worker"`
	HTTP      int `toml:"http"` // of the first service; 0: the port of http.listen, if there is one
}

func (h Host) tableName() string { return h.Name }

func (h *Host) setDefaults() { h.Schedulers = 1 }

// Has tells whether the host has a role.
func (h *Host) Has(role string) bool { return slices.Contains(h.Roles, role) }

// Host returns the host called name.
func (c *Config) Host(name string) (*Host, bool) {
	for i := range c.Hosts {
		if c.Hosts[i].Name == name {
			return &c.Hosts[i], true
		}
	}
	return nil, false
}

// Service is one process of the inventory.
type Service struct {
	Host *Host
	Role string
	Name string // under which it registers; also its unit's
	Port int
	HTTP int // of its pages; 0: none
}

// Dial returns the address at which others reach the service.
func (s *Service) Dial() string { return net.JoinHostPort(s.Host.Address, strconv.Itoa(s.Port)) }

// Listen returns what the service listens on: its host's address, or everything where that is a name, which the host itself
// may take for its loopback.
func (s *Service) Listen() string {
	host := s.Host.Address
	if net.ParseIP(host) == nil {
		host = ""
	}
	return net.JoinHostPort(host, strconv.Itoa(s.Port))
}

// Services lists the processes of all hosts, host by host.
func (c *Config) Services() []Service {
	var all []Service
	for i := range c.Hosts {
		all = append(all, c.servicesOn(&c.Hosts[i])...)
	}
	return all
}

// servicesOn lists a host's processes: workers are called as their host is, the first scheduler scheduler-HOST, and the
// next scheduler-HOST-2. Ports of further schedulers, and of the pages of further services, follow the first one's.
func (c *Config) servicesOn(h *Host) []Service {
	var all []Service
	add := func(role, name string, port int) {
		s := Service{Host: h, Role: role, Name: name, Port: port}
		if first := cmp.Or(h.Ports.HTTP, portOf(c.HTTP.Listen)); first > 0 {
			s.HTTP = first + len(all)
		}
		all = append(all, s)
	}
	if h.Has(RoleDatastore) {
		add(RoleDatastore, RoleDatastore+"-"+h.Name, cmp.Or(h.Ports.Datastore, portOf(c.Datastore.Listen)))
	}
	if h.Has(RoleScheduler) {
		first := cmp.Or(h.Ports.Scheduler, portOf(c.Scheduler.Listen))
		add(RoleScheduler, RoleScheduler+"-"+h.Name, first)
		for k := 2; k <= min(h.Schedulers, mostSchedulers); k++ {
			add(RoleScheduler, fmt.Sprintf("%s-%s-%d", RoleScheduler, h.Name, k), first+k-1)
		}
	}
	if h.Has(RoleWorker) {
		add(RoleWorker, h.Name, cmp.Or(h.Ports.Worker, portOf(c.Worker.Listen)))
	}
	return all
}

// with lists the services of a role.
func (c *Config) with(role string) []Service {
	return slices.DeleteFunc(c.Services(), func(s Service) bool { return s.Role != role })
}

// portOf returns the port of host:port, or 0.
func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n
}

// SSHTarget returns what ssh dials: the name or address, and the port or "".
func (h *Host) SSHTarget() (name, port string) {
	if h.SSH == "" {
		return h.Address, ""
	}
	if name, port, err := net.SplitHostPort(h.SSH); err == nil {
		return name, port
	}
	return strings.Trim(h.SSH, "[]"), ""
}
