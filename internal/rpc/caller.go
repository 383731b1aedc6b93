package rpc

import (
	"context"

	"dodoor/internal/identity"
)

// requestKey finds the connection of the request that has a context.
type requestKey struct{}

// callerKey finds the identity that WithCaller has put there.
type callerKey struct{}

// Caller is who sent the request with this context; nobody over plaintext.
func Caller(ctx context.Context) identity.Identity {
	if id, given := ctx.Value(callerKey{}).(identity.Identity); given {
		return id
	}
	if c, served := ctx.Value(requestKey{}).(*serverConn); served {
		return c.caller
	}
	return identity.Identity{}
}

// WithCaller is a context as a request of this identity has it, for whoever serves without a connection.
func WithCaller(ctx context.Context, id identity.Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

// Waits gives back the slot of the request with this context: it is going to wait, and others are handled meanwhile. Only the goroutine
// that handles the request may call it.
func Waits(ctx context.Context) {
	if c, served := ctx.Value(requestKey{}).(*serverConn); served {
		c.release()
	}
}

// context is that of a request.
func (c *serverConn) context(m Method) context.Context {
	which, parent := &c.handling, c.server.handling
	if methods[m].waits {
		which, parent = &c.waiting, c.server.waiting
	}
	if *which == nil {
		*which = context.WithValue(parent, requestKey{}, c)
	}
	return *which
}
