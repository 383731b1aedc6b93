// Package localcluster runs every service of a configuration inside one process, over real Thrift: on loopback, or on
// a network in memory.
package localcluster

import (
	"context"
	"log/slog"
	"sync"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
)

// Cluster is a data service, schedulers and workers that run, and connections to them.
type Cluster struct {
	Dimensions cluster.Dimensions
	Data       *rpc.DataClient
	Schedulers []drive.Target
	Registries []*telemetry.Registry // of all services

	network    assemble.Network
	clientRPC  rpc.Config // of connections to the services
	log        *slog.Logger
	data       service
	schedulers []service
	workers    []service
	clients    []interface{ Close() error }

	stops  [3][]func()     // by phase: schedulers drain first, then workers leave, then the data service
	faults context.Context // ends when a service fails; the cause is its error
	failed context.CancelCauseFunc
}

// service is one of the three daemons.
type service interface {
	Addr() string
	Ready() error
	Run(ctx context.Context) error
}

// The phases of Stop.
const (
	drains = iota
	leaves
	last
)

// Start starts the services, on free ports of loopback where network is nil. Stop ends them.
func Start(c *conf.Config, log *slog.Logger, network assemble.Network) (*Cluster, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	l := &Cluster{Dimensions: dims, log: log, network: network}
	l.faults, l.failed = context.WithCancelCause(context.Background())
	if err := l.start(*c); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}

// start gives each service its own copy of the configuration with its own name.
func (l *Cluster) start(c conf.Config) error {
	c.Datastore.Listen = l.address("datastore")
	data, err := assemble.Datastore(&c, l.site("datastore", "datastore"))
	if err != nil {
		return err
	}
	l.data = data
	c.Datastore.Address = data.Addr()
	l.run(data, last)
	if l.clientRPC, err = GeneratorRPC(&c, l.network); err != nil {
		return err
	}
	l.Data = rpc.NewDataClient(data.Addr(), l.Dimensions, l.clientRPC)
	l.clients = append(l.clients, l.Data)
	for i := range c.Scheduler.Replicas {
		c.Scheduler.Name = cluster.SchedulerName(i)
		c.Scheduler.Listen = l.address(c.Scheduler.Name)
		s, err := assemble.Scheduler(&c, l.site("scheduler", c.Scheduler.Name))
		if err != nil {
			return err
		}
		l.schedulers = append(l.schedulers, s)
		l.run(s, drains)
		client := rpc.NewSchedulerClient(s.Addr(), l.Dimensions, l.clientRPC.To(c.Scheduler.Name))
		l.clients = append(l.clients, client)
		l.Schedulers = append(l.Schedulers, drive.Target{Name: c.Scheduler.Name, Service: client})
	}
	return assemble.EachLocalWorker(c, func(own *conf.Config) error {
		own.Worker.Listen = l.address(own.Worker.Name)
		w, err := assemble.Worker(own, l.site("worker", own.Worker.Name))
		if err != nil {
			return err
		}
		l.workers = append(l.workers, w)
		l.run(w, leaves)
		return nil
	})
}

// address is where the service called name listens.
func (l *Cluster) address(name string) string {
	if l.network == nil {
		return "127.0.0.1:0"
	}
	return name + ":1"
}

func (l *Cluster) site(service, name string) assemble.Site {
	r := telemetry.NewRegistry(service, name)
	l.Registries = append(l.Registries, r)
	return assemble.Site{Log: l.log, Metrics: r, Network: l.network}
}

// run starts a service, which ends in the given phase of Stop.
func (l *Cluster) run(s service, phase int) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Run(ctx); err != nil {
			l.log.Error("a service failed", "address", s.Addr(), "error", err)
			l.failed(err)
		}
	}()
	l.stops[phase] = append(l.stops[phase], func() {
		cancel()
		<-ended
	})
}

// GeneratorRPC sizes the pools of a generator: its submissions in flight, and one long poll.
func GeneratorRPC(c *conf.Config, network assemble.Network) (rpc.Config, error) {
	cfg, err := assemble.RPC(c, network, "generator")
	cfg.PoolSize = c.Generator.Connections + 2
	return cfg, err
}

// Address is that of the data service.
func (l *Cluster) Address() string { return l.data.Addr() }

// Workers are the addresses of the workers, in the order of the configuration.
func (l *Cluster) Workers() []string {
	var all []string
	for _, w := range l.workers {
		all = append(all, w.Addr())
	}
	return all
}

// While returns a context that ends with ctx, or when a service fails.
func (l *Cluster) While(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(l.faults, func() { cancel(l.Fault()) })
	return ctx, func() { unwatch(); cancel(nil) }
}

// Fault is the error of the first service that failed, if one did.
func (l *Cluster) Fault() error { return context.Cause(l.faults) }

// Ready is nil while all of the data service and the schedulers take work.
func (l *Cluster) Ready() error {
	for _, s := range append([]service{l.data}, l.schedulers...) {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// StopOr is Stop, and does not wait for services that drain when there is no time for that.
func (l *Cluster) StopOr(hurry context.Context) {
	stopped := make(chan struct{})
	go func() {
		l.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-hurry.Done():
	}
}

// Stop hangs up and ends every service. What fails at that has been logged.
func (l *Cluster) Stop() {
	for _, c := range l.clients {
		c.Close()
	}
	for _, phase := range l.stops {
		var group sync.WaitGroup
		for _, stop := range phase {
			group.Go(stop)
		}
		group.Wait()
	}
	l.failed(nil)
}
