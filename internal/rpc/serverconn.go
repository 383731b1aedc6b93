package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/identity"
)

// A connection is idle until a whole message has arrived, so closing an idle one loses no request
// that anybody has seen.
const (
	idle int32 = iota
	busy
	closedIdle
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
	protocol thrift.TProtocol
	raw      *opened             // below TLS; nil: plaintext
	caller   identity.Identity   // nobody over plaintext
	chain    []*x509.Certificate // the caller's, guarded by the server's lock
	state    atomic.Int32

	begun   bool // the current message has begun to arrive
	timed   bool // a read deadline is set
	holding bool // a handler slot
	replied bool // the current reply has begun to leave

	broken error // why a reply could not be written

	handling context.Context // of requests that hold a slot; nil: there was none
	waiting  context.Context // likewise, of those that wait for something
}

func newServerConn(s *Server, conn net.Conn) *serverConn {
	c := &serverConn{Conn: conn, server: s}
	if s.secure != nil {
		c.raw = &opened{Conn: conn}
		c.Conn = tls.Server(c.raw, s.secure)
	}
	c.frames = &frames{conn: c}
	c.protocol = stack(c.frames, s.cfg.limit(s.service.snapshots))
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
// (IdleTimeout), but not in the middle of one (MessageTimeout). While a request is being answered its
// frame is in memory: a message that wants more would wait, in a handler slot, for the next frame.
func (c *serverConn) Read(b []byte) (int, error) {
	if c.state.Load() == busy {
		return 0, errBeyondFrame
	}
	if c.begun && !c.timed {
		c.timed = true
		c.SetReadDeadline(time.Now().Add(c.server.cfg.MessageTimeout))
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.begun {
		c.begun = true
		c.timed = false
	}
	return n, err
}

// Write implements the transport under the protocol stack. The whole reply is in memory when its
// first byte leaves, so a peer that does not read its replies holds no handler slot.
func (c *serverConn) Write(b []byte) (int, error) {
	c.release()
	c.replied = true
	c.SetWriteDeadline(time.Now().Add(c.server.cfg.MessageTimeout))
	n, err := c.Conn.Write(b)
	if err != nil {
		c.broken = err
	}
	return n, err
}

func (c *serverConn) closeIdle() {
	if c.state.CompareAndSwap(idle, closedIdle) {
		c.Close()
	}
}

func (c *serverConn) serve() {
	defer c.server.remove(c)
	defer c.Close()
	if !c.admit() {
		return
	}
	for c.next() {
	}
}

// next answers one request. It reports whether the connection can carry another.
func (c *serverConn) next() (usable bool) {
	var name string
	var seq int32
	defer func() {
		if cause := recover(); cause != nil {
			c.panicked(name, seq, cause)
			usable = false
		}
	}()
	c.awaitMessage()
	name, kind, seq, err := c.protocol.ReadMessageBegin(c.server.handling)
	if err == nil && kind != thrift.CALL {
		err = fmt.Errorf("message type %d is no request", kind)
	}
	if err != nil {
		if c.begun {
			c.notUnderstood(err)
		}
		return false
	}
	if !c.state.CompareAndSwap(idle, busy) {
		return false
	}
	e, known := c.server.service.endpoints[name]
	if !known {
		c.unknown(name, seq)
		return false
	}
	usable = c.handle(e, name, seq)
	if n := c.protocol.Transport().RemainingBytes(); usable && n > 0 {
		c.bad(fmt.Errorf("%s: %d bytes follow the message in its frame", name, n))
		return false
	}
	c.state.Store(idle)
	return usable && !c.server.stopping.Load()
}

// awaitMessage sets the deadline for the first byte of the next message.
func (c *serverConn) awaitMessage() {
	timeout := c.server.cfg.IdleTimeout
	if timeout > 0 {
		c.SetReadDeadline(time.Now().Add(timeout))
	} else if c.timed {
		c.SetReadDeadline(time.Time{})
	}
	c.begun, c.timed, c.replied = false, false, false
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
	if c.raw != nil {
		if denied := e.denial(c.caller, name); denied != nil {
			return c.deny(name, seq, denied)
		}
	}
	ctx := c.context(e.method)
	if !methods[e.method].waits && !c.acquire(ctx) {
		return false, ctx.Err()
	}
	usable, exception := e.function.Process(ctx, seq, c.protocol, c.protocol)
	if exception == nil {
		return usable, nil
	}
	return usable, c.failed(name, seq, usable, exception)
}

// failed looks after a request that was not answered with a result. The generated processor has told
// the caller why, unless the answer itself was too large to be sent.
func (c *serverConn) failed(name string, seq int32, usable bool, err error) error {
	var declared *dodoor.ServiceError
	if errors.As(err, &declared) {
		switch declared.Code {
		case dodoor.ErrorCode_INVALID:
			c.bad(fmt.Errorf("%s: %s", name, declared.Message))
		case dodoor.ErrorCode_NOT_ALLOWED:
			c.server.complaints.warn(c.server.cfg.Log, time.Now(), "request refused", "peer", c.RemoteAddr(), "error", declared.Message)
		}
		return declaredError(declared)
	}
	log := c.server.cfg.Log.With("method", name, "peer", c.RemoteAddr(), "error", err)
	switch {
	case c.broken != nil:
		log.Debug("reply not delivered")
	case !c.replied:
		log.Error("reply too large")
		refuse(c.server.handling, c.protocol, name, seq, thrift.INTERNAL_ERROR, fmt.Sprintf("reply: %v", err))
	case !usable:
		c.bad(fmt.Errorf("%s: %w", name, err))
	default:
		log.Error("request failed")
	}
	return fmt.Errorf("%w: %w", ErrRemote, err)
}

// panicked answers for a handler that did not return. The process goes on; the connection does not,
// since half a reply may be in its buffer.
func (c *serverConn) panicked(name string, seq int32, cause any) {
	c.server.cfg.Observer.Event(Panicked)
	c.server.cfg.Log.Error("handler panicked", "method", name, "peer", c.RemoteAddr(), "panic", cause,
		"stack", string(debug.Stack()))
	refuse(c.server.handling, c.protocol, name, seq, thrift.INTERNAL_ERROR, fmt.Sprintf("%s panicked: %v", name, cause))
}

func (c *serverConn) unknown(name string, seq int32) {
	c.protocol.Skip(c.server.handling, thrift.STRUCT)
	c.bad(fmt.Errorf("unknown method %.64q", name))
	refuse(c.server.handling, c.protocol, name, seq, thrift.UNKNOWN_METHOD, fmt.Sprintf("unknown method %.64q", name))
}

// refuse answers with an application exception. The connection is closed afterwards, and its peer
// told why if that works, so errors are of no interest.
func refuse(ctx context.Context, to thrift.TProtocol, name string, seq, code int32, message string) {
	to.WriteMessageBegin(ctx, name, thrift.EXCEPTION, seq)
	thrift.NewTApplicationException(code, message).Write(ctx, to)
	to.WriteMessageEnd(ctx)
	to.Flush(ctx)
}

// bad counts what is no valid request.
func (c *serverConn) bad(err error) {
	c.server.cfg.Observer.Event(BadMessage)
	c.server.cfg.Log.Debug("bad message", "peer", c.RemoteAddr(), "error", err)
}

// acquire waits for a handler slot.
func (c *serverConn) acquire(ctx context.Context) bool {
	select {
	case c.server.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	c.holding = true
	return true
}

// release gives the slot back; twice is fine.
func (c *serverConn) release() {
	if c.holding {
		c.holding = false
		<-c.server.slots
	}
}
