package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
)

// deliver sends the reply, if there is one. What the request needed is given back before: a peer that does not read its replies
// holds no handler slot, and of memory the reply alone.
func (c *serverConn) deliver() bool {
	c.release()
	c.settle()
	c.state.CompareAndSwap(busy, replying)
	err := c.frames.send()
	if err == nil {
		c.since.Store(time.Now().UnixNano())
		return c.state.CompareAndSwap(replying, idle)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		c.server.exceeded(UnreadReply, c.from.name, "a reply was not read for %v", c.server.cfg.MessageTimeout)
	}
	c.server.cfg.Log.Debug("reply not delivered", "peer", c.RemoteAddr(), "error", err)
	return false
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
	case !c.frames.whole:
		log.Error("reply too large")
		refuse(c.server.handling, c.protocol, name, seq, thrift.INTERNAL_ERROR, fmt.Sprintf("reply: %v", err))
	case !usable:
		c.tooLarge(err)
		c.bad(fmt.Errorf("%s: %w", name, err))
	default:
		log.Error("request failed")
	}
	return fmt.Errorf("%w: %w", ErrRemote, err)
}

// panicked answers for a handler that did not return. The process goes on; the connection does not.
func (c *serverConn) panicked(name string, seq int32, cause any) {
	c.server.cfg.Observer.Event(Panicked)
	c.server.cfg.Log.Error("handler panicked", "method", name, "peer", c.RemoteAddr(), "panic", cause,
		"stack", string(debug.Stack()))
	c.frames.unsend() // half a reply
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

// decline answers with a declared error instead of what there may be, and forgets what is left of the request.
func (c *serverConn) decline(name string, seq int32, e *dodoor.ServiceError) (usable bool, err error) {
	c.frames.drop()
	c.frames.unsend()
	return writeDeclared(c.server.handling, c.protocol, name, seq, e) == nil, declaredError(e)
}
