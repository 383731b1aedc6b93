package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/internal/identity"
)

// A connection is idle until a message begins to arrive, and none has been seen by anybody before it has arrived as a whole: closing it
// until then loses no request.
const (
	idle int32 = iota
	arriving
	busy
	replying
	hungUp
)

var (
	errPanicked    = fmt.Errorf("%w: the handler panicked", ErrRemote)
	errBeyondFrame = errors.New("the message is longer than its frame")
)

// serverConn answers the requests of one connection. Between the protocol stack and the socket it
// keeps the deadlines: none is set for a message that arrives in one piece.
type serverConn struct {
	net.Conn // what messages travel on
	server   *Server
	frames   *frames
	protocol *bounded
	raw      *opened             // below TLS; nil: plaintext
	caller   identity.Identity   // nobody over plaintext
	chain    []*x509.Certificate // the caller's, guarded by the server's lock
	state    atomic.Int32

	from  *origin      // under the server's lock, or this goroutine's
	share share        // under the traffic's lock
	since atomic.Int64 // when it was opened, or became idle, in ns
	heard atomic.Bool  // a whole message has arrived
	came  time.Time

	begun   bool // the current message has begun to arrive
	timed   bool // a read deadline is set
	holding bool // a handler slot
	crowded bool // the message was given up, as there are too many
	lead    [lengthBytes]byte

	handling context.Context // of requests that hold a slot; nil: there was none
	waiting  context.Context // likewise, of those that wait for something
}

func newServerConn(s *Server, conn net.Conn) *serverConn {
	c := &serverConn{Conn: conn, server: s, came: time.Now()}
	c.since.Store(c.came.UnixNano())
	if s.secure != nil {
		c.raw = &opened{Conn: conn, charge: c.charge}
		c.Conn = tls.Server(c.raw, s.secure)
	}
	c.frames = &frames{conn: c, holds: true, charge: c.charge}
	c.protocol = stack(c.frames, s.cfg.limit(s.service.snapshots))
	c.protocol.charge = c.decoding
	return c
}

// Close hangs up at once: TLS would say goodbye first, to a peer that may not listen.
func (c *serverConn) Close() error {
	if c.raw != nil {
		return c.raw.Close()
	}
	return c.Conn.Close()
}

// Read implements the transport under the protocol stack. A peer may take its time between messages
// (IdleTimeout), but not in the middle of one (MessageTimeout), nor before its first (Limits.FirstMessage). While a request is
// being answered its frame is in memory: a message that wants more would wait, in a handler slot, for the next frame.
func (c *serverConn) Read(b []byte) (int, error) {
	if c.state.Load() == busy {
		return 0, errBeyondFrame
	}
	if c.begun && !c.timed {
		c.timed = true
		c.SetReadDeadline(c.earlier(time.Now().Add(c.server.cfg.MessageTimeout)))
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.begun {
		c.begun = true
		c.timed = false
		c.state.CompareAndSwap(idle, arriving)
	}
	return n, err
}

// Write implements the transport under the protocol stack: it sends a whole reply.
func (c *serverConn) Write(b []byte) (int, error) {
	c.SetWriteDeadline(time.Now().Add(c.server.cfg.MessageTimeout))
	return c.Conn.Write(b)
}

func (c *serverConn) serve() {
	defer c.server.remove(c)
	defer c.Close()
	if !c.admit() || !c.server.known(c) {
		return
	}
	for c.begins() && c.next() {
	}
	buffers.give(c.frames.in)
}

// begins waits for the first bytes of a message. Connections spend their lives here, so it takes little of the stack, and what says
// nothing has no buffer.
func (c *serverConn) begins() bool {
	c.awaitMessage()
	f := c.frames
	if f.held > 0 { // it came with the one before
		c.begun = true
		c.state.CompareAndSwap(idle, arriving)
		return true
	}
	into := f.in
	if len(into) == 0 {
		into = c.lead[:]
	}
	n, err := c.Read(into)
	if len(f.in) == 0 && n > 0 {
		f.in = make([]byte, frameBytes)
		copy(f.in, into[:n])
	}
	if f.held = n; n == 0 && err != nil {
		c.unreadable(err)
	}
	return n > 0
}

// next answers one request. It reports whether the connection can carry another.
func (c *serverConn) next() (usable bool) {
	var name string
	var seq int32
	defer func() {
		if cause := recover(); cause != nil {
			c.panicked(name, seq, cause)
			c.deliver()
			usable = false
		}
	}()
	name, kind, seq, err := c.protocol.ReadMessageBegin(c.server.handling)
	if err == nil && kind != thrift.CALL {
		err = fmt.Errorf("message type %d is no request", kind)
	}
	if err != nil {
		c.unreadable(err)
		return false
	}
	if !c.state.CompareAndSwap(arriving, busy) && !c.state.CompareAndSwap(idle, busy) {
		return false
	}
	c.heard.Store(true)
	usable = c.answer(name, seq)
	return c.deliver() && usable && !c.server.stopping.Load()
}

// answer writes the reply to a request.
func (c *serverConn) answer(name string, seq int32) (usable bool) {
	e, known := c.server.service.endpoints[name]
	if !known {
		c.unknown(name, seq)
		return false
	}
	if usable = c.handle(e, name, seq); !usable {
		return false
	}
	if n := c.frames.RemainingBytes(); n > 0 {
		c.bad(fmt.Errorf("%s: %d bytes follow the message in its frame", name, n))
		return false
	}
	return true
}

// unreadable tells of what arrived instead of a message, or did not.
func (c *serverConn) unreadable(err error) {
	var timeout net.Error
	switch {
	case c.state.Load() == hungUp:
		return
	case errors.As(err, &timeout) && timeout.Timeout() && (c.begun || !c.heard.Load()):
		c.server.exceeded(LateMessage, c.from.name, "a message, or a connection's first, did not arrive in time")
	default:
		c.tooLarge(err)
	}
	if c.begun {
		c.notUnderstood(err)
	}
}

// awaitMessage gives back what the last reply took, and sets the deadline for the first byte of the next message.
func (c *serverConn) awaitMessage() {
	c.settle()
	timeout := c.server.cfg.IdleTimeout
	switch {
	case !c.heard.Load():
		c.SetReadDeadline(c.came.Add(c.server.cfg.Limits.FirstMessage))
	case timeout > 0:
		c.SetReadDeadline(time.Now().Add(timeout))
	case c.timed:
		c.SetReadDeadline(time.Time{})
	}
	c.begun, c.timed, c.crowded = false, false, false
}

// handle answers a request whose bytes have all arrived.
func (c *serverConn) handle(e endpoint, name string, seq int32) (usable bool) {
	c.server.cfg.Observer.Begin(e.method, In)
	err := errPanicked // unless process returns
	defer func() {
		c.release()
		c.server.cfg.Observer.End(e.method, In, err)
	}()
	usable, err = c.process(e, name, seq)
	return usable
}

func (c *serverConn) process(e endpoint, name string, seq int32) (usable bool, err error) {
	if refusal := c.inadmissible(e.method); refusal != nil {
		return c.decline(name, seq, refusal)
	}
	if c.raw != nil {
		if denied := e.denial(c.caller, name); denied != nil {
			return c.deny(name, seq, denied)
		}
	}
	ctx := c.context(e.method)
	if methods[e.method].waits {
		defer c.polled()
		if refusal := c.polls(e.method); refusal != nil {
			return c.decline(name, seq, refusal)
		}
	} else if !c.acquire(ctx) {
		return false, ctx.Err()
	}
	usable, exception := e.function.Process(ctx, seq, c.protocol, c.protocol)
	switch {
	case exception == nil:
		return usable, nil
	case c.crowded:
		return c.decline(name, seq, c.tooMuch(e.method))
	}
	return usable, c.failed(name, seq, usable, exception)
}
