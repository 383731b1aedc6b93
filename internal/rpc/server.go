package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dodoor/internal/cluster"
)

// Server answers requests for one Service on one listener. Requests on a connection are answered
// one at a time, in order.
type Server struct {
	listener net.Listener
	service  Service
	cfg      Config
	slots    chan struct{} // one token per running handler
	secure   *tls.Config   // nil: plaintext

	complaints seldom // about peers

	handling context.Context // of handlers; ends when StopGrace is over
	waiting  context.Context // of those that wait for something; ends when the server stops
	abandon  context.CancelFunc
	wake     context.CancelFunc

	stopping  atomic.Bool
	quit      chan struct{} // closed by Close
	closeOnce sync.Once

	mu      sync.Mutex
	conns   map[*serverConn]struct{}
	origins map[string]*origin
	serve   sync.WaitGroup // one per connection

	traffic  traffic
	warnings warnings
	failing  atomic.Pointer[error] // why no connection can be accepted now; nil: they can
}

// Listen binds addr ("host:port"; on TCP, port 0: any free one) for Serve.
func Listen(addr string, service Service, cfg Config) (*Server, error) {
	listener, err := cfg.Bind(addr)
	if err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	return NewServer(listener, service, cfg), nil
}

// NewServer returns a server for connections to a listener, which it owns from then on.
func NewServer(listener net.Listener, service Service, cfg Config) *Server {
	cfg = cfg.filled()
	cfg.Limits = cfg.Limits.filled(defaultLimits(cfg.MaxConnections, cfg.limit(service.snapshots)))
	s := &Server{
		listener: listener, service: service, cfg: cfg,
		slots: make(chan struct{}, cfg.MaxHandlers),
		quit:  make(chan struct{}),
		conns: make(map[*serverConn]struct{}), origins: make(map[string]*origin),
		warnings: warnings{log: cfg.Log.With("address", listener.Addr())},
	}
	s.traffic = traffic{limits: &s.cfg.Limits, holders: make(map[*serverConn]struct{})}
	if cfg.Bundle != nil {
		s.secure = cfg.Bundle.Unverified()
	}
	return s
}

// Addr returns the bound address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops the server: Serve returns as it does when its context ends.
func (s *Server) Close() error {
	var err error
	s.closeOnce.Do(func() {
		close(s.quit)
		err = s.listener.Close()
	})
	return err
}

// Serve answers requests until ctx ends or Close is called. It then hangs up idle connections, lets
// running handlers finish for StopGrace, and returns nil; handlers that even ignore the end of their
// context are an error, as is a listener that somebody else closed. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	// The library polls forever under a context with a deadline; handlers keep the values alone.
	s.handling, s.abandon = context.WithCancel(context.WithoutCancel(ctx))
	defer s.abandon()
	s.waiting, s.wake = context.WithCancel(s.handling)
	defer context.AfterFunc(ctx, func() { s.Close() })()

	s.countFiles()
	var overseer sync.WaitGroup
	if s.secure != nil {
		overseer.Go(s.oversee)
	}
	err := s.accept()
	s.Close()
	overseer.Wait()
	return errors.Join(err, s.stop())
}

// Ready says why others may not get a connection: nil, if they do.
func (s *Server) Ready() error {
	if err := s.failing.Load(); err != nil {
		return fmt.Errorf("rpc: %s: no connection can be accepted: %w", s.Addr(), *err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.conns); n >= s.cfg.MaxConnections {
		return fmt.Errorf("rpc: %s: all %d connections are taken (rpc.max_connections)", s.Addr(), n)
	}
	return nil
}

// accept takes connections until the server is closed. When that fails for want of a resource (EMFILE, ENOBUFS, ...)
// idle connections make room, and it is tried again after a pause.
func (s *Server) accept() error {
	var backoff cluster.Backoff
	for {
		conn, err := s.listener.Accept()
		switch {
		case s.closed():
			if err == nil {
				conn.Close()
			}
			return nil
		case err == nil:
			backoff.Reset()
			s.failing.Store(nil)
			s.start(conn)
			continue
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("rpc: %s: %w", s.Addr(), err)
		}
		s.cfg.Observer.Event(AcceptFailed)
		s.failing.Store(&err)
		s.spare()
		pause := backoff.Next()
		s.cfg.Log.Warn("accepting a connection failed", "address", s.Addr(), "error", err, "retry_in", pause)
		select {
		case <-time.After(pause):
		case <-s.quit:
		}
	}
}

func (s *Server) closed() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// spare closes idle connections, so that there is something left to accept others with.
func (s *Server) spare() {
	s.mu.Lock()
	evicted := s.makeRoom(nil)
	s.mu.Unlock()
	s.evicted(evicted)
}

// start serves a new connection, or hangs up at once when there are too many.
func (s *Server) start(conn net.Conn) {
	c := newServerConn(s, conn)
	if bound, ok := s.enter(c); !ok {
		limit := s.cfg.MaxConnections
		if bound == RejectedPeer {
			limit = s.cfg.Limits.PeerConnections
		}
		s.exceeded(bound, hostOf(conn.RemoteAddr()), "there are %d connections, and none is idle", limit)
		conn.Close()
		return
	}
	go c.serve()
}

func (s *Server) remove(c *serverConn) {
	s.traffic.release(c)
	s.mu.Lock()
	s.leave(c)
	s.mu.Unlock()
	s.serve.Done()
}

// stop ends every connection: idle ones now, the others after the request that they are answering.
func (s *Server) stop() error {
	s.stopping.Store(true)
	s.wake()
	s.each(func(c *serverConn) { c.closeIdle() })
	done := make(chan struct{})
	go func() {
		s.serve.Wait()
		close(done)
	}()
	if finished(done, s.cfg.StopGrace) {
		return nil
	}
	s.abandon()
	s.each(func(c *serverConn) { c.Close() })
	if finished(done, s.cfg.StopGrace) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("rpc: %s: stopped with %d handlers still running after %s",
		s.Addr(), len(s.conns), 2*s.cfg.StopGrace)
}

func (s *Server) each(do func(*serverConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		do(c)
	}
}

func finished(done <-chan struct{}, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
