package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

const (
	headerTimeout = 5 * time.Second // a peer that connects and says nothing holds a goroutine no longer
	idleTimeout   = time.Minute
	stopTimeout   = time.Second // what a scrape in flight gets when the service stops
	maxHeader     = 16 << 10    // bytes
)

// ServerConfig says what a Server shows.
type ServerConfig struct {
	Addr       string       // host:port; port 0 takes a free one
	Registries []*Registry  // of every service in this process
	Ready      func() error // returns nil while the service takes work; errors.Join gives several reasons
	Pprof      bool         // profiles under /debug/pprof/
	Log        *slog.Logger // where failed scrapes and connections are reported
}

// Server answers /metrics, /healthz and /readyz, and /debug/pprof/ when asked to. Whoever reaches
// its address can read it: bind it to loopback or to a management network.
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
	errorLog := slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn)
	return &Server{listener: listener, http: &http.Server{
		Handler:           routes(cfg, gatherer, errorLog),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          errorLog,
	}}, nil
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
