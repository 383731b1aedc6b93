package conf

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// settle makes the rest of a configuration follow from its hosts, where nothing else was written: where the data service
// and the schedulers are, how many there are of each, what a host takes from the cluster.
func (c *Config) settle(r *report) {
	if len(c.Hosts) == 0 {
		return
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		h.User, h.Jump, h.Folder = cmp.Or(h.User, c.Cluster.User), cmp.Or(h.Jump, c.Cluster.Jump), cmp.Or(h.Folder, c.Cluster.Folder)
		c.inheritDevices(r, i)
	}
	if data := c.with(RoleDatastore); len(data) > 0 && !r.written("datastore.address") {
		c.Datastore.Address = data[0].Dial()
	}
	schedulers := c.with(RoleScheduler)
	if !r.written("scheduler.replicas") {
		c.Scheduler.Replicas = max(1, len(schedulers))
	}
	if !r.written("generator.schedulers") {
		for _, s := range schedulers {
			c.Generator.Schedulers = append(c.Generator.Schedulers, s.Dial())
		}
	}
	for i := range c.Classes {
		if path := index("class", i) + ".count"; !r.written(path) {
			c.Classes[i].Count = c.workersOf(c.Classes[i].Name)
		}
	}
}

// workersOf counts the hosts whose workers are of a class.
func (c *Config) workersOf(class string) int {
	n := 0
	for _, s := range c.with(RoleWorker) {
		if s.Host.Class == class {
			n++
		}
	}
	return n
}

// As returns the configuration of one service of the inventory: where it listens, what the others dial, its name and its
// class.
func (c *Config) As(s *Service) *Config {
	on, listen := *c, s.Listen()
	switch s.Role {
	case RoleDatastore:
		on.Datastore.Listen = listen
	case RoleScheduler:
		on.Scheduler.Listen, on.Scheduler.Address, on.Scheduler.Name = listen, s.Dial(), s.Name
	case RoleWorker:
		on.Worker.Listen, on.Worker.Address, on.Worker.Name, on.Worker.Class = listen, s.Dial(), s.Name, s.Host.Class
		on.Worker.Devices = c.devicesOn(s.Host)
	}
	if s.HTTP > 0 {
		host, _, _ := net.SplitHostPort(c.HTTP.Listen)
		on.HTTP.Listen = net.JoinHostPort(cmp.Or(host, "127.0.0.1"), strconv.Itoa(s.HTTP))
	}
	return &on
}

// StopsWithin is how long a service may take to stop once it is asked to: what it has to drain, and a while to notice and to
// write what is left.
func (c *Config) StopsWithin(s *Service) time.Duration {
	const spare = 10 * time.Second
	switch s.Role {
	case RoleScheduler:
		return time.Duration(c.Scheduler.DrainTimeout) + spare
	case RoleWorker:
		return time.Duration(c.Worker.DrainTimeout) + spare
	}
	return spare
}

// Service returns a service of the inventory. It fails where the inventory has none of that role and name.
func (c *Config) Service(role, name string) (*Service, error) {
	var names []string
	for _, s := range c.with(role) {
		if s.Name == name {
			return &s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("the inventory has no %s called %q: there are %s", role, name, listed(names))
}

// Under returns the configuration with another policy and seed.
func (c *Config) Under(policy string, seed uint64) *Config {
	other := *c
	other.Scheduler.Policy, other.Seed = policy, seed
	return &other
}

// DigestOf names what a service goes by: two services of one digest behave the same. What does not concern a running service
// is left out: the other hosts, how many there are, the simulator, and what the generator replays, but for how fast it lets time pass,
// which a scheduler's policy is told.
func (c *Config) DigestOf(s *Service) (string, error) {
	own := *c.As(s)
	own.Cluster, own.Hosts, own.Generator, own.Sim, own.Scheduler.Replicas = Cluster{}, nil, Generator{}, Sim{}, 0
	own.Security.User = ""
	if own.Security.Folder != "" { // that there are certificates matters, not where they are
		own.Security.Folder = "certs"
	}
	if s.Role == RoleScheduler {
		own.Generator.TimeScale = c.Generator.TimeScale
	}
	own.Classes = slices.Clone(c.Classes)
	for i := range own.Classes {
		own.Classes[i].Count = 0
	}
	text, err := own.Marshal()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6]), nil
}
