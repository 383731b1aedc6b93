package assemble

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"dodoor/conf"
	"dodoor/internal/identity"
	"dodoor/internal/telemetry"
)

// Pages is the HTTP server beside services: /metrics, /healthz and /readyz.
type Pages struct {
	Addr string // "off": there is none, as the configuration has no address for it
	Stop func()
}

// StartPages serves the metrics of some services. They are ready while ready returns nil. On an address that other machines reach it
// goes by the bundle, if there is one.
func StartPages(c *conf.Config, b *identity.Bundle, log *slog.Logger, ready func() error, registries ...*telemetry.Registry,
) (*Pages, error) {
	if c.HTTP.Listen == "" {
		return &Pages{Addr: "off", Stop: func() {}}, nil
	}
	if err := c.Security.Permits("http.listen", c.HTTP.Listen); err != nil {
		return nil, err
	}
	access, err := accessOf(c, b)
	if err != nil {
		return nil, err
	}
	server, err := telemetry.NewServer(telemetry.ServerConfig{Addr: c.HTTP.Listen, Registries: registries, Ready: ready, Pprof: c.HTTP.Pprof,
		Access: access, Log: log})
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

// accessOf is who may ask for pages. On this machine alone they are plaintext, with a token if there is one.
func accessOf(c *conf.Config, b *identity.Bundle) (a telemetry.Access, err error) {
	if !conf.Loopback(c.HTTP.Listen) {
		a.Bundle = b
	}
	if c.HTTP.TokenFile != "" {
		if a.Token, err = telemetry.ReadToken(c.HTTP.TokenFile); err != nil {
			return a, fmt.Errorf("http.token_file: %w", err)
		}
	}
	return a, nil
}
