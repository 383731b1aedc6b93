package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// ServerConfig says what a Server shows.
type ServerConfig struct {
	Addr       string       // host:port; port 0 takes a free one
	Registries []*Registry  // of every service in this process
	Ready      func() error // returns nil while the service takes work; errors.Join gives several reasons
	Pprof      bool         // profiles under /debug/pprof/
	Access     Access       // who may ask
	Log        *slog.Logger // where failed scrapes and connections are reported
}

// Server answers /metrics, /healthz and /readyz, and /debug/pprof/ when asked to, to those whom its configuration lets in.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// NewServer validates cfg and binds its address; Run answers.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Addr == "" {
		return nil, errors.New("http address is empty: give host:port, with port 0 for a free one")
	}
	if cfg.Ready == nil || cfg.Log == nil {
		return nil, errors.New("http server: a readiness check and a log are needed")
	}
	gatherer, err := gathererOf(cfg.Registries)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("http address %q: %w (choose a free one; port 0 takes any)", cfg.Addr, err)
	}
	return serving(cfg, gatherer, listener), nil
}

// serving makes a server of what listens.
func serving(cfg ServerConfig, gatherer prometheus.Gatherer, listener net.Listener) *Server {
	errorLog := slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn)
	refused := &refusals{log: cfg.Log}
	listener = bound(listener, refused)
	if b := cfg.Access.Bundle; b != nil {
		listener = tls.NewListener(listener, b.Unverified()) // a request without a certificate may have a token
	}
	handler := cfg.Access.guard(routes(cfg, gatherer, errorLog), refused)
	return &Server{listener: listener, http: &http.Server{
		Handler:           http.MaxBytesHandler(handler, maxBody),
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      replyTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          errorLog,
	}}
}

func gathererOf(registries []*Registry) (prometheus.Gatherer, error) {
	all := prometheus.NewRegistry()
	all.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, r := range registries {
		if err := all.Register(r); err != nil {
			return nil, fmt.Errorf("metrics of %s %q: %w", r.service, r.name, err)
		}
	}
	return all, nil
}

// Addr returns the bound address, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run answers requests until ctx ends or Close is called, and then returns nil; any other end is an
// error. Requests in flight get a second to finish.
func (s *Server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	select {
	case err := <-served:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("http server on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if s.http.Shutdown(grace) != nil {
		_ = s.http.Close() // the requests still in flight are cut off
	}
	<-served
	return nil
}
