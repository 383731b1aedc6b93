package assemble

import (
	"context"
	"errors"
	"fmt"

	"dodoor/conf"
	"dodoor/internal/telemetry"
	"dodoor/internal/version"
	"dodoor/scheduler/schedulerd"
)

// service is one of the three daemons.
type service interface {
	Addr() string
	Ready() error
	Run(ctx context.Context) error
}

// Serve runs a service of a role, with its HTTP pages beside it, until ctx ends: that of the inventory which site names,
// if it names one, and what the configuration says otherwise. A scheduler that is told to run another policy starts anew
// in the same place. It reports whether the service ever served: if not, err is about what was asked for.
func Serve(ctx context.Context, c *conf.Config, role string, site Site) (served bool, err error) {
	for {
		s, stop, err := begin(c, role, site)
		if err != nil {
			return served, err
		}
		err = s.Run(ctx)
		stop()
		other, switched := errors.AsType[schedulerd.Switched](err)
		switch {
		case err == nil, switched && ctx.Err() != nil: // it has drained
			site.Log.Info("stopped", "service", role)
			return true, nil
		case !switched:
			return true, err
		}
		site.Log.Info("starts anew", "service", role, "policy", other.Policy, "seed", other.Seed)
		c, served = c.Under(other.Policy, other.Seed), true
	}
}

// begin starts a service, and what is beside it: its pages, and what looks for new certificates.
func begin(c *conf.Config, role string, site Site) (s service, stop func(), err error) {
	if site.Service != "" {
		entry, err := c.Service(role, site.Service)
		if err != nil {
			return nil, nil, err
		}
		if site.Digest, err = c.DigestOf(entry); err != nil {
			return nil, nil, err
		}
		c = c.As(entry)
	}
	if site.Network == nil {
		if err := exposes(c, role, site.Log); err != nil {
			return nil, nil, err
		}
	}
	if site.Bundle, err = ServiceBundle(c, role, site.Service); err != nil {
		return nil, nil, err
	}
	name := nameOf(c, role)
	site.Metrics = telemetry.NewRegistry(role, name)
	s, err = newService(c, role, site)
	if err != nil {
		return nil, nil, err
	}
	pages, err := StartPages(c, site.Bundle, site.Log, s.Ready, site.Metrics)
	if err != nil {
		return nil, nil, err
	}
	unwatch := watch(site.Bundle, site.Log)
	site.Log.Info("serving", "service", role, "name", name, "address", s.Addr(), "http", pages.Addr, "version", version.Dodoor())
	return s, func() { pages.Stop(); unwatch() }, nil
}

func newService(c *conf.Config, role string, site Site) (service, error) {
	switch role {
	case conf.RoleDatastore:
		return Datastore(c, site)
	case conf.RoleScheduler:
		return Scheduler(c, site)
	case conf.RoleWorker:
		return Worker(c, site)
	}
	return nil, fmt.Errorf("no service has the role %q", role)
}

func nameOf(c *conf.Config, role string) string {
	switch role {
	case conf.RoleScheduler:
		return c.Scheduler.Name
	case conf.RoleWorker:
		return c.Worker.Name
	}
	return role
}
