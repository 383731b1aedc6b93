package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dodoor/conf"
)

// asUnits decides who supervises what Up starts: systemd or, where that cannot be, nobody but us. It says why not, except
// where there is no systemd at all.
func (a *Agent) asUnits(wait time.Duration) (bool, error) {
	if a.c.Cluster.Supervision == conf.SupervisionOwn {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	err := a.systemd.usable(ctx)
	for i := range a.services {
		if err == nil {
			err = a.unit(&a.services[i]).check()
		}
	}
	switch {
	case err == nil:
		return true, nil
	case a.c.Cluster.Supervision == conf.SupervisionSystemd:
		return false, fmt.Errorf(`cluster.supervision is "systemd", and this host cannot: %w (or set it to "auto")`, err)
	case !errors.Is(err, errNoSystemd):
		fmt.Fprintf(a.Out, "not under systemd, so after a reboot this host needs another up: %v\n", err)
	}
	return false, nil
}

// launch starts the supervisor of a service.
func (a *Agent) launch(s *conf.Service, asUnit bool) launch {
	u := a.unit(s)
	return func(ctx context.Context) (func() bool, error) {
		if asUnit {
			return a.systemd.start(ctx, u)
		}
		if err := a.systemd.remove(ctx, u); err != nil { // or two would start it after a reboot
			return nil, err
		}
		return detached(a.Folder, s.Name, a.supervisor(s.Name, ""))(ctx)
	}
}

// unit is that of a service, installed or not.
func (a *Agent) unit(s *conf.Service) *unit {
	name := unitName(a.c.Cluster.Name, s.Name)
	return &unit{name: name, service: s.Name, folder: a.Folder, argv: a.supervisor(s.Name, name), patience: a.c.StopsWithin(s),
		system: a.systemd.uid == 0}
}

// supervisor is the command that supervises a service, in a unit of systemd or in none.
func (a *Agent) supervisor(service, unit string) []string {
	argv := []string{a.Folder.Binary(), "host", "supervise", "-conf", a.Configuration, "-folder", string(a.Folder), "-host", a.Host,
		"-service", service}
	if unit != "" {
		argv = append(argv, "-unit", unit)
	}
	return argv
}
