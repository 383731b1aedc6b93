package rpc

import (
	"context"
	"fmt"
	"sync"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// A method of a service is two statements, one for each end. The client's says which request goes out
// and how its reply is read; the handler's says how the request is read, who serves it, and how the
// answer goes out. The rest is here.

// peer is what every client knows of the process that it calls.
type peer struct {
	calls *pool
	dims  cluster.Dimensions
}

func newPeer(addr string, role identity.Role, dims cluster.Dimensions, cfg Config, snapshots bool) peer {
	return peer{newPool(addr, role, cfg, snapshots), dims}
}

// Close hangs up. Calls in progress fail with ErrClosed.
func (p peer) Close() error {
	p.calls.close()
	return nil
}

// expected is a reply W that is to become a value R.
type expected[W, R any] struct {
	peer   *peer
	method Method
	decode func(*decoder, W) R
}

func expect[W, R any](p *peer, m Method, decode func(*decoder, W) R) expected[W, R] {
	return expected[W, R]{p, m, decode}
}

// from takes what a generated client returned.
func (x expected[W, R]) from(w W, err error) (r R, _ error) {
	if err != nil {
		return r, callerError(err)
	}
	r, err = decode(x.peer.dims, w, x.decode)
	if err != nil {
		err = fmt.Errorf("%s at %s: %w: invalid reply: %w", x.method, x.peer.calls.addr, ErrRemote, err)
	}
	return r, err
}

// answered is a value R that is to become a reply W, or whatever went wrong with it.
type answered[R, W any] struct {
	ctx    context.Context
	dims   cluster.Dimensions
	encode func(encoder, R) W
}

func answer[R, W any](ctx context.Context, dims cluster.Dimensions, encode func(encoder, R) W) answered[R, W] {
	return answered[R, W]{ctx, dims, encode}
}

// with takes what the service returned.
func (a answered[R, W]) with(r R, err error) (w W, _ error) {
	if err != nil {
		return w, wireError(a.ctx, err)
	}
	return a.encode(encoder{a.dims}, r), nil
}

// handle serves a request W as a Q, unless it is not valid, and answers with the R that comes of it.
func handle[W, Q, R, A any](ctx context.Context, dims cluster.Dimensions, w W, read func(*decoder, W) Q,
	serve func(context.Context, Q) (R, error), encode func(encoder, R) A) (a A, _ error) {
	if err := honest(ctx, w); err != nil {
		return a, wireError(ctx, err)
	}
	q, err := decode(dims, w, read)
	if err != nil {
		return a, invalid(err)
	}
	return answer(ctx, dims, encode).with(serve(ctx, q))
}

// accept is handle for a request whose answer says no more than that it was served.
func accept[W, Q any](ctx context.Context, dims cluster.Dimensions, w W, read func(*decoder, W) Q,
	serve func(context.Context, Q) error) error {
	if err := honest(ctx, w); err != nil {
		return wireError(ctx, err)
	}
	q, err := decode(dims, w, read)
	if err != nil {
		return invalid(err)
	}
	return wireError(ctx, serve(ctx, q))
}

// as is an answer that the wire carries as it is.
func as[T any](_ encoder, v T) T { return v }

// decoders are kept because a decoder behind a function value would be an allocation in every call.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode reads one message.
func decode[W, V any](dims cluster.Dimensions, w W, read func(*decoder, W) V) (V, error) {
	d := decoders.Get().(*decoder)
	d.dims = dims
	v, err := read(d, w), d.err
	*d = decoder{}
	decoders.Put(d)
	return v, err
}
