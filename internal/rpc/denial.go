package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// deny answers a request that its caller may not make, as a handler's declared error is. No handler sees it, nor does it take a slot.
func (c *serverConn) deny(name string, seq int32, denied *cluster.Error) (usable bool, err error) {
	ctx := c.server.handling
	if err := errors.Join(c.protocol.Skip(ctx, thrift.STRUCT), c.protocol.ReadMessageEnd(ctx)); err != nil {
		c.bad(fmt.Errorf("%s: %w", name, err))
		return false, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	wire := wireError(ctx, denied).(*dodoor.ServiceError)
	usable = writeDeclared(ctx, c.protocol, name, seq, wire) == nil
	return usable, c.failed(name, seq, usable, wire)
}

// declaredField is where the reply of every method has its declared error.
const declaredField = 1

// writeDeclared is a reply that holds a declared error.
func writeDeclared(ctx context.Context, to thrift.TProtocol, name string, seq int32, e *dodoor.ServiceError) error {
	return errors.Join(
		to.WriteMessageBegin(ctx, name, thrift.REPLY, seq),
		to.WriteStructBegin(ctx, name),
		to.WriteFieldBegin(ctx, "e", thrift.STRUCT, declaredField),
		e.Write(ctx, to),
		to.WriteFieldEnd(ctx),
		to.WriteFieldStop(ctx),
		to.WriteStructEnd(ctx),
		to.WriteMessageEnd(ctx),
		to.Flush(ctx))
}

// protocolVersion is what a TLS client understands of a service that has no TLS: the alert of that name.
var protocolVersion = []byte{21, 3, 1, 0, 2, 2, alertProtocolVersion}

const alertProtocolVersion = 70

// notUnderstood looks after bytes that are no request. A client that speaks TLS to a service in plaintext is told so.
func (c *serverConn) notUnderstood(err error) {
	c.bad(err)
	if came := c.frames.in; c.raw == nil && len(came) > 1 && came[0] == tlsHandshake && came[1] == 3 {
		c.server.complaints.warn(c.server.cfg.Log, time.Now(), "connection refused", "peer", c.RemoteAddr(),
			"error", "the peer speaks TLS, and this service plaintext alone: its security.folder is empty")
		c.SetDeadline(time.Now().Add(c.server.cfg.HandshakeTimeout))
		c.Conn.Write(protocolVersion)
		lastWords(c.Conn)
	}
}
