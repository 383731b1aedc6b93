package rpc

import (
	"context"

	"dodoor/internal/identity"
)

// callerKey finds the identity whose request has a context.
type callerKey struct{}

// Caller is who sent the request with this context; nobody over plaintext.
func Caller(ctx context.Context) identity.Identity {
	id, _ := ctx.Value(callerKey{}).(identity.Identity)
	return id
}

// WithCaller is a context as a request of this identity has it, for whoever serves without a connection.
func WithCaller(ctx context.Context, id identity.Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}
