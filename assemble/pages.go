package assemble

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// Pages is the HTTP server beside services: /metrics, /healthz and /readyz.
type Pages struct {
	Addr string // "off": there is none, as the configuration has no address for it
	Stop func()
}

// StartPages serves the metrics of some services. They are ready while ready returns nil.
func StartPages(c *conf.Config, log *slog.Logger, ready func() error, registries ...*telemetry.Registry) (*Pages, error) {
	if c.HTTP.Listen == "" {
		return &Pages{Addr: "off", Stop: func() {}}, nil
	}
	if err := c.Security.Permits("http.listen", c.HTTP.Listen); err != nil {
		return nil, err
	}
	server, err := telemetry.NewServer(telemetry.ServerConfig{Addr: c.HTTP.Listen, Registries: registries, Ready: ready, Pprof: c.HTTP.Pprof,
		Log: log})
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
	return &Pages{Addr: server.Addr(), Stop: func() {
		cancel()
		running.Wait()
	}}, nil
}
