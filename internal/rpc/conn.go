package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
)

// clientConn is one connection of a pool. Its borrower is its only user: the library's client takes
// one call at a time.
type clientConn struct {
	net.Conn          // what messages travel on
	below    net.Conn // what that travels on: the same one over plaintext
	client   *thrift.TStandardClient
	trust    trust
	raw      syscall.RawConn // nil where the connection is no socket
	peek     func(fd uintptr) bool
	hungUp   bool // what peek found

	last    <-chan struct{} // tells when the context of the last call ends; nil: never
	unwatch func() bool     // has that context forget the connection; false: it has ended. nil: it forgot

	wrote  bool  // part of this call's request left the process
	broken error // why reading or writing failed
}

// newClientConn is a connection over conn, which lies over below.
func newClientConn(conn, below net.Conn, maxMessageBytes int) *clientConn {
	c := &clientConn{Conn: conn, below: below}
	protocol := stack(&frames{conn: c}, maxMessageBytes)
	c.client = thrift.NewTStandardClient(protocol, protocol)
	if socket, ok := below.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			c.raw, c.peek = raw, c.peekSocket
		}
	}
	return c
}

// Close hangs up at once: TLS would say goodbye first, to a peer that may not listen.
func (c *clientConn) Close() error { return c.below.Close() }

func (c *clientConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.broken = err
	}
	return n, err
}

func (c *clientConn) Write(b []byte) (int, error) {
	c.wrote = true
	n, err := c.Conn.Write(b)
	if err != nil {
		c.broken = err
	}
	return n, err
}

// call sends one request and waits for its reply until the deadline, or until ctx ends. The
// library looks at neither, so an ended ctx closes the connection under it. After an error the
// connection must not be used again: the reply may still come.
func (c *clientConn) call(ctx context.Context, method string, args, result thrift.TStruct) error {
	c.wrote, c.broken = false, nil
	lasting := ctx.Done() == c.last // a service's own: one that was made for a call does not come twice
	c.last = ctx.Done()
	if c.last != nil && c.unwatch == nil {
		c.unwatch = context.AfterFunc(ctx, func() { c.Close() })
	}
	_, err := c.client.Call(context.Background(), method, args, result)
	if !lasting && !c.forget() && err == nil {
		c.broken = net.ErrClosed // the reply came, and ctx ended: keep the one, not the connection
	}
	if err != nil {
		return c.classify(ctx, err)
	}
	return nil
}

// forget has the last call's context forget the connection. It is false when that context has ended: the
// connection is being closed.
func (c *clientConn) forget() bool {
	open := c.unwatch == nil || c.unwatch()
	c.unwatch = nil
	return open
}

// classify says what kind of failure the library's error is.
func (c *clientConn) classify(ctx context.Context, err error) error {
	var application thrift.TApplicationException
	var timeout net.Error
	switch {
	case errors.As(err, &application):
		return fmt.Errorf("%w: %w", ErrRemote, err)
	case c.broken == nil && !c.wrote:
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case c.broken == nil:
		return fmt.Errorf("%w: the answer is not understood: %w", ErrRemote, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil, errors.As(c.broken, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: no answer: %w", ErrUnavailable, context.DeadlineExceeded)
	case errors.Is(c.broken, io.EOF):
		return fmt.Errorf("%w: the peer closed the connection: %w", ErrUnavailable, c.broken)
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, c.broken)
	}
}

// ready prepares an idle connection for a call that ends at the deadline. It is false when the
// connection cannot carry one: the peer closed it, or sent what nobody asked for, or the context of
// the last call ended. It does not wait.
func (c *clientConn) ready(ctx context.Context, deadline time.Time) bool {
	if c.last != ctx.Done() && !c.forget() {
		return false
	}
	if c.raw != nil {
		c.SetDeadline(deadline)
		c.hungUp = true
		err := c.raw.Read(c.peek)
		return err == nil && !c.hungUp
	}
	c.SetReadDeadline(time.Unix(1, 0))
	_, err := c.Conn.Read(make([]byte, 1))
	c.SetDeadline(deadline)
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// peekSocket looks at the socket without taking anything from it: "try again" is a quiet, open one. That holds below TLS as well, where
// a server without session tickets sends nothing that nobody asked for.
func (c *clientConn) peekSocket(fd uintptr) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	c.hungUp = err != syscall.EAGAIN && err != syscall.EINTR
	return true
}
