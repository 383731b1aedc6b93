package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"dodoor/conf"
)

// Agent does on one host of an inventory what scripts/cluster asks for. Its verbs print what they did, a line per service.
type Agent struct {
	Folder        Folder
	Configuration string // an absolute path
	Host          string // name in the inventory
	Out           io.Writer

	c        *conf.Config
	services []conf.Service
	systemd  systemd
}

// ErrNoHost says that the inventory has no host of that name. Down works all the same.
var ErrNoHost = errors.New("has no host")

// Read reads the configuration and finds the host in its inventory.
func (a *Agent) Read(sets []string) (err error) {
	if a.c, err = conf.Load(a.Configuration, sets); err != nil {
		return err
	}
	a.systemd = thisSystemd()
	a.services = slices.DeleteFunc(a.c.Services(), func(s conf.Service) bool { return s.Host.Name != a.Host })
	if len(a.services) == 0 {
		return fmt.Errorf("-host: %s %w %q", a.Configuration, ErrNoHost, a.Host)
	}
	return nil
}

// Up starts what does not run, leaves alone what does, and waits for each service until it listens.
func (a *Agent) Up(wait time.Duration) error {
	turn, err := a.Folder.turn(context.Background())
	if err != nil {
		return err
	}
	defer turn.Close()
	if err := a.StopAnswering(); err != nil {
		return err
	}
	units, err := a.asUnits(wait)
	if err != nil {
		return err
	}
	var problems []error
	for _, s := range a.services {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		state, err := Start(ctx, a.Folder, s.Name, a.launch(&s, units), func() error { return dial(ctx, s.Dial()) })
		cancel()
		if err != nil {
			problems = append(problems, err)
			continue
		}
		fmt.Fprintf(a.Out, "%s runs, process %d, version %s\n", s.Name, state.PID, state.Version)
	}
	return errors.Join(problems...)
}

func dial(ctx context.Context, address string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// Status prints the state of every service, as JSON.
func (a *Agent) Status() error {
	encoder := json.NewEncoder(a.Out)
	for _, s := range a.services {
		state, err := a.Folder.StateOf(s.Name)
		if err == nil {
			err = encoder.Encode(state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Down stops services in the opposite order of Up, each in the time that the configuration gives it to drain, and what else
// was started in the folder: under an earlier name of the host, or before a service left the inventory.
func (a *Agent) Down() error {
	turn, err := a.Folder.turn(context.Background())
	if err != nil {
		return err
	}
	defer turn.Close()
	problems := []error{a.StopAnswering()}
	others, err := a.others()
	if err != nil {
		return err
	}
	here := slices.Clone(a.services)
	slices.Reverse(here)
	for _, s := range append(others, here...) {
		patience := a.c.StopsWithin(&s)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		killed, err := Stop(ctx, a.Folder, s.Name)
		cancel()
		// After the service, so that it ends in the same way under either: then systemd has nothing to do but to forget it.
		ctx, cancel = context.WithTimeout(context.Background(), patience)
		err = errors.Join(err, a.systemd.remove(ctx, a.unit(&s)))
		cancel()
		switch {
		case err != nil:
			problems = append(problems, err)
		case killed:
			fmt.Fprintf(a.Out, "%s did not end within %v: killed\n", s.Name, patience)
		default:
			fmt.Fprintln(a.Out, s.Name, "is stopped")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), unitPatience)
	defer cancel()
	for _, u := range a.systemd.unitsOf(a.Folder) {
		problems = append(problems, a.systemd.remove(ctx, u))
	}
	return errors.Join(problems...)
}

// unitPatience bounds how long systemd may take to forget what does not run any more.
const unitPatience = time.Minute

// others are services that run here and are not among the host's. Each may take as long as a worker to stop.
func (a *Agent) others() (all []conf.Service, err error) {
	names, err := a.Folder.noted()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		known := slices.ContainsFunc(a.services, func(s conf.Service) bool { return s.Name == name })
		if s, err := a.Folder.StateOf(name); err != nil || !known && s.Running {
			all = append(all, conf.Service{Name: name, Role: conf.RoleWorker})
		}
	}
	return all, nil
}

// Supervise keeps one service running until the context ends. unit is that of systemd which runs this, or "".
func (a *Agent) Supervise(ctx context.Context, service, unit string, sets []string) error {
	s, err := a.service(service)
	if err != nil {
		return err
	}
	argv := []string{a.Folder.Binary(), s.Role, "-conf", a.Configuration, "-as", service}
	return Supervise(ctx, a.Folder, service, unit, argv, func() (string, error) { return a.version(service, sets) })
}

func (a *Agent) service(name string) (*conf.Service, error) {
	var names []string
	for i := range a.services {
		if a.services[i].Name == name {
			return &a.services[i], nil
		}
		names = append(names, a.services[i].Name)
	}
	return nil, fmt.Errorf("-service: host %s runs no %q: there are %s", a.Host, name, strings.Join(names, ", "))
}

// version is that of a service as its next start finds it: the files may be others by then.
func (a *Agent) version(service string, sets []string) (string, error) {
	now := *a
	if err := now.Read(sets); err != nil {
		return "", err
	}
	s, err := now.service(service)
	if err != nil {
		return "", err
	}
	binary, err := a.Folder.BinaryVersion()
	if err != nil {
		return "", err
	}
	digest, err := now.c.DigestOf(s)
	return binary + "-" + digest, err
}
