// Package rpctest has what tests and benchmarks of services need: a network in memory, and bare
// services that show what the library alone costs.
package rpctest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Listener accepts connections in memory (net.Pipe), so that servers and clients run inside a
// testing/synctest bubble. Its Dial fits rpc.Config.
type Listener struct {
	addr   pipeAddr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener returns an open listener.
func NewListener() *Listener {
	return &Listener{addr: "memory:1", conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address. After Close nobody listens any more, which
// is reported as the operating system does.
func (l *Listener) Dial(ctx context.Context, addr string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: ctx.Err()}
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Err: net.ErrClosed}
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }

func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
