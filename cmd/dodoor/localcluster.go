package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
)

// localCluster is every service of the configuration inside this process, over real Thrift on loopback.
type localCluster struct {
	dims       cluster.Dimensions
	data       service
	schedulers []service
	workers    []service
	names      []string // of the schedulers
	registries []*telemetry.Registry
	clients    []interface{ Close() error }
	dataClient *rpc.DataClient
	targets    []drive.Target

	stops  [3][]func() // by phase: schedulers drain first, then workers leave, then the data service
	log    *slog.Logger
	faults context.Context // ends when a service fails; the cause is its error
	failed context.CancelCauseFunc
}

// startCluster starts the data service, the schedulers and the workers on free ports.
func startCluster(c *conf.Config, log *slog.Logger) (*localCluster, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	l := &localCluster{dims: dims, log: log}
	l.faults, l.failed = context.WithCancelCause(context.Background())
	if err := l.start(c, log); err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

func (l *localCluster) start(c *conf.Config, log *slog.Logger) error {
	own := *c // each service gets its own copy with its own name
	own.Datastore.Listen, own.Scheduler.Listen, own.Worker.Listen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	data, err := newDatastore(&own, log, l.registry("datastore", "datastore"))
	if err != nil {
		return err
	}
	l.data = data
	own.Datastore.Address = data.Addr()
	l.run(data, 2)
	if err := l.startSchedulers(own, log); err != nil {
		return err
	}
	if err := l.startWorkers(own, log); err != nil {
		return err
	}
	l.connect(&own)
	return nil
}

func (l *localCluster) startSchedulers(c conf.Config, log *slog.Logger) error {
	for i := range c.Scheduler.Replicas {
		c.Scheduler.Name = fmt.Sprintf("scheduler-%d", i+1)
		s, err := newScheduler(&c, log, l.registry("scheduler", c.Scheduler.Name))
		if err != nil {
			return err
		}
		l.schedulers = append(l.schedulers, s)
		l.names = append(l.names, c.Scheduler.Name)
		l.run(s, 0)
	}
	return nil
}

func (l *localCluster) startWorkers(c conf.Config, log *slog.Logger) error {
	return eachWorker(c, func(own *conf.Config) error {
		w, err := newWorker(own, log, l.registry("worker", own.Worker.Name))
		if err != nil {
			return err
		}
		l.workers = append(l.workers, w)
		l.run(w, 1)
		return nil
	})
}

func (l *localCluster) registry(service, name string) *telemetry.Registry {
	r := telemetry.NewRegistry(service, name)
	l.registries = append(l.registries, r)
	return r
}

// run starts a service, which ends in the given phase of stop.
func (l *localCluster) run(s service, phase int) {
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

// while returns a context that ends with ctx, or when a service fails.
func (l *localCluster) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(l.faults, func() { cancel(l.fault()) })
	return ctx, func() { unwatch(); cancel(nil) }
}

// fault is the error of the first service that failed, if one did.
func (l *localCluster) fault() error { return context.Cause(l.faults) }

// connect makes the generator's connections.
func (l *localCluster) connect(c *conf.Config) {
	cfg := generatorRPC(c)
	l.dataClient = rpc.NewDataClient(l.data.Addr(), l.dims, cfg)
	l.clients = append(l.clients, l.dataClient)
	for i, s := range l.schedulers {
		client := rpc.NewSchedulerClient(s.Addr(), l.dims, cfg)
		l.clients = append(l.clients, client)
		l.targets = append(l.targets, drive.Target{Name: l.names[i], Service: client})
	}
}

// generatorRPC sizes the generator's pools: its submissions in flight, and one long poll.
func generatorRPC(c *conf.Config) rpc.Config {
	cfg := rpcConfig(c, 0)
	cfg.PoolSize = c.Generator.Connections + 2
	return cfg
}

// ready waits until every scheduler takes every worker for a candidate, and until the pushes that the
// registrations caused have ended: they are no part of a run.
func (l *localCluster) ready(ctx context.Context) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for _, target := range l.targets {
		for {
			counts, err := target.Service.Counters(ctx)
			if err == nil && counts["candidates"] == int64(len(l.workers)) {
				break
			}
			select {
			case <-poll.C:
			case <-l.faults.Done():
				return l.fault()
			case <-ctx.Done():
				return fmt.Errorf("%s knows %d of %d workers: %w", target.Name, counts["candidates"], len(l.workers), context.Cause(ctx))
			}
		}
	}
	return l.dataClient.Settle(ctx)
}

// allReady is the readiness of the whole process.
func (l *localCluster) allReady() error {
	for _, s := range append([]service{l.data}, l.schedulers...) {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// stopOr is stop, and does not wait for services that drain when there is no time for that.
func (l *localCluster) stopOr(hurry context.Context) {
	stopped := make(chan struct{})
	go func() {
		l.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-hurry.Done():
	}
}

// stop hangs up and ends every service. What fails at that has been logged.
func (l *localCluster) stop() {
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
