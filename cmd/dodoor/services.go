package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// A service is one of the three daemons.
type service interface {
	Addr() string
	Ready() error
	Run(ctx context.Context) error
}

// A builder makes a service from the configuration.
type builder func(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (service, error)

func runDatastore(args []string, _, stderr io.Writer) int {
	o := newOptions("datastore", "runs the data service until SIGINT or SIGTERM",
		"dodoor datastore -conf conf/single.toml -http 127.0.0.1:8010", "local", stderr)
	o.override("listen", "datastore.listen", "`address` to serve on")
	return runService(o, args, "datastore", func(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (service, error) {
		return newDatastore(c, log, metrics)
	})
}

func runScheduler(args []string, _, stderr io.Writer) int {
	o := newOptions("scheduler", "runs one scheduler replica until SIGINT or SIGTERM, then drains",
		"dodoor scheduler -conf conf/single.toml -name scheduler-2 -listen 127.0.0.1:20504", "local", stderr)
	o.override("listen", "scheduler.listen", "`address` to serve on")
	o.override("name", "scheduler.name", "`name` of this replica")
	o.override("policy", "scheduler.policy", "placement `policy`")
	o.override("datastore", "datastore.address", "`address` of the data service")
	return runService(o, args, "scheduler", func(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (service, error) {
		return newScheduler(c, log, metrics)
	})
}

func runWorker(args []string, _, stderr io.Writer) int {
	o := newOptions("worker", "runs one worker until SIGINT or SIGTERM, then drains",
		"dodoor worker -conf conf/single.toml -name worker-2 -class laptop -listen 127.0.0.1:20502", "local", stderr)
	o.override("listen", "worker.listen", "`address` to serve on")
	o.override("name", "worker.name", "`name` of this node")
	o.override("class", "worker.class", "node `class`: one of the configuration's [[class]] tables")
	o.override("datastore", "datastore.address", "`address` of the data service")
	return runService(o, args, "worker", func(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (service, error) {
		return newWorker(c, log, metrics)
	})
}

// runService runs one service in the foreground, with its HTTP pages beside it.
func runService(o *options, args []string, kind string, build builder) int {
	o.override("http", "http.listen", "`address` for /metrics, /healthz and /readyz")
	o.typesFlag()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	metrics := telemetry.NewRegistry(kind, serviceName(kind, c))
	s, err := build(c, log, metrics)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	defer stop()
	pages, err := startPages(c, log, s.Ready, metrics)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	defer pages.stop()
	log.Info("serving", "service", kind, "name", serviceName(kind, c), "address", s.Addr(), "http", pages.addr, "version", version)
	if err := s.Run(ctx); err != nil {
		return o.fail(exitFailed, err)
	}
	log.Info("stopped", "service", kind)
	return exitDone
}

func serviceName(kind string, c *conf.Config) string {
	switch kind {
	case "scheduler":
		return c.Scheduler.Name
	case "worker":
		return c.Worker.Name
	}
	return kind
}

// pages is the HTTP server beside a service; without an address there is none.
type pages struct {
	addr string
	stop func()
}

func startPages(c *conf.Config, log *slog.Logger, ready func() error, registries ...*telemetry.Registry) (*pages, error) {
	if c.HTTP.Listen == "" {
		return &pages{addr: "off", stop: func() {}}, nil
	}
	server, err := telemetry.NewServer(telemetry.ServerConfig{Addr: c.HTTP.Listen, Registries: registries, Ready: ready, Pprof: c.HTTP.Pprof, Log: log})
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Run(ctx); err != nil {
			log.Error("http server ended", "error", err)
		}
	})
	return &pages{addr: server.Addr(), stop: func() {
		cancel()
		running.Wait()
	}}, nil
}
