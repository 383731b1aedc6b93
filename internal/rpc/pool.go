package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/identity"
)

// pool is a peer's connections: dialled when first needed, each lent to one call at a time, and
// dropped after any failure. It implements thrift.TClient, so that a generated client over it is
// safe for concurrent use as long as every call makes its own.
type pool struct {
	addr     string
	expected identity.Identity
	cfg      Config
	maxBytes int
	lent     chan struct{} // one token per connection in use

	mu     sync.Mutex
	idle   []*clientConn            // most recently used last
	open   map[*clientConn]struct{} // idle and lent ones; nil once closed
	closed chan struct{}
}

func newPool(addr string, role identity.Role, cfg Config, snapshots bool) *pool {
	cfg = cfg.filled()
	return &pool{
		addr: addr, expected: identity.Identity{Role: role, Name: cfg.Peer}, cfg: cfg, maxBytes: cfg.limit(snapshots),
		lent:   make(chan struct{}, cfg.PoolSize),
		open:   make(map[*clientConn]struct{}),
		closed: make(chan struct{}),
	}
}

// patient gives a long poll, which waits so long for news, its deadline where ctx has none: the wait on top of CallTimeout.
func (p *pool) patient(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.cfg.CallTimeout+max(wait, 0))
}

// Call implements thrift.TClient. It never repeats a request.
func (p *pool) Call(ctx context.Context, name string, args, result thrift.TStruct) (thrift.ResponseMeta, error) {
	method := byWireName[name]
	err := p.call(ctx, method, name, args, result)
	if err != nil {
		err = fmt.Errorf("%s at %s: %w", method, p.addr, err)
	}
	return thrift.ResponseMeta{}, err
}

func (p *pool) call(ctx context.Context, method Method, name string, args, result thrift.TStruct) error {
	if err := ctx.Err(); err != nil {
		return p.unsent(ctx, err)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(p.cfg.CallTimeout)
	}
	if err := p.wait(ctx, deadline); err != nil {
		return err
	}
	defer func() { <-p.lent }()
	conn, err := p.borrow(ctx, deadline)
	if err != nil {
		return err
	}
	p.cfg.Observer.Begin(method, Out)
	err = conn.call(ctx, name, args, result)
	p.giveBack(conn, err == nil && conn.broken == nil)
	if err != nil && p.isClosed() {
		err = ErrClosed
	}
	p.cfg.Observer.End(method, Out, outcome(result, err))
	return err
}

// outcome is a call's error, or the declared one inside its reply.
func outcome(result thrift.TStruct, err error) error {
	if err != nil {
		return err
	}
	if r, ok := result.(interface{ GetE() *dodoor.ServiceError }); ok && r.GetE() != nil {
		return declaredError(r.GetE())
	}
	return nil
}

// wait takes a token: at most PoolSize calls run at once, the others queue here.
func (p *pool) wait(ctx context.Context, deadline time.Time) error {
	select {
	case p.lent <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case p.lent <- struct{}{}:
		return nil
	case <-p.closed:
		return ErrClosed
	case <-ctx.Done():
		return p.unsent(ctx, ctx.Err())
	case <-timer.C:
		return p.unsent(ctx, fmt.Errorf("all %d connections are busy: %w", p.cfg.PoolSize, context.DeadlineExceeded))
	}
}

// unsent wraps the reason why a request was not written.
func (p *pool) unsent(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotSent, err)
}

// borrow returns an idle connection that its peer has not closed meanwhile, or a new one.
func (p *pool) borrow(ctx context.Context, deadline time.Time) (*clientConn, error) {
	for {
		conn, err := p.takeIdle()
		if err != nil {
			return nil, err
		}
		if conn == nil {
			return p.dial(ctx, deadline)
		}
		if conn.trust.lasts(p.cfg.Bundle) && conn.ready(ctx, deadline) {
			return conn, nil
		}
		p.drop(conn)
	}
}

func (p *pool) takeIdle() (*clientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return nil, ErrClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	conn := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return conn, nil
}

func (p *pool) dial(ctx context.Context, deadline time.Time) (*clientConn, error) {
	limit := time.Now().Add(p.cfg.DialTimeout)
	if deadline.Before(limit) {
		limit = deadline
	}
	dialCtx, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	raw, err := p.cfg.Dial(dialCtx, p.addr)
	if err != nil {
		p.cfg.Observer.Event(DialFailed)
		return nil, p.unsent(ctx, err)
	}
	raw.SetDeadline(deadline)
	conn := newClientConn(raw, raw, p.maxBytes)
	if p.cfg.Bundle != nil {
		if conn, err = p.introduce(ctx, raw, deadline); err != nil {
			raw.Close()
			p.cfg.Observer.Event(DialFailed)
			return nil, p.unsent(ctx, cmp.Or(ctx.Err(), err)) // an ended context closes the connection
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		raw.Close()
		return nil, ErrClosed
	}
	p.open[conn] = struct{}{}
	return conn, nil
}

func (p *pool) giveBack(conn *clientConn, usable bool) {
	if !usable || !p.keep(conn) {
		p.drop(conn)
	}
}

func (p *pool) keep(conn *clientConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return false
	}
	p.idle = append(p.idle, conn)
	return true
}

// drop is for the connection's borrower.
func (p *pool) drop(conn *clientConn) {
	conn.forget()
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

func (p *pool) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// close hangs up every connection; calls in progress fail with ErrClosed.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return
	}
	close(p.closed)
	for _, conn := range p.idle {
		conn.forget()
	}
	for conn := range p.open {
		conn.Close()
	}
	p.open, p.idle = nil, nil
}
