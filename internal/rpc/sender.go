package rpc

import (
	"context"
	"errors"
	"sync"
)

// ErrFull says that the sender's bound on waiting items is reached.
var ErrFull = errors.New("too much is waiting to be sent")

// A burst may leave a buffer of any size behind; a larger one than this is not kept.
const keptItems = 4096

// Sender is the one goroutine that talks to a peer. What is posted while it is busy waits, and then
// leaves in one batch, so batches form by themselves under load and nothing waits for one to fill.
type Sender[T any] struct {
	send     func(ctx context.Context, batch []T)
	maxBatch int
	limit    int

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	posted  sync.Cond // waiting is not empty, or closing
	waiting []T
	pending int // waiting, and taken but not yet consumed
	closing bool
}

// NewSender starts a sender. send gets the items in the order in which they were posted, at most
// maxBatch at a time (1: no coalescing); when it returns they count as consumed, so it decides about
// retries itself, and it must return soon after its context ends. It must not keep the slice. At most
// limit items wait; 0: no bound.
func NewSender[T any](maxBatch, limit int, send func(ctx context.Context, batch []T)) *Sender[T] {
	s := &Sender[T]{send: send, maxBatch: max(maxBatch, 1), limit: limit, done: make(chan struct{})}
	s.posted.L = &s.mu
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.run()
	return s
}

// Post hands an item over without waiting. It fails with ErrFull or ErrClosed.
func (s *Sender[T]) Post(item T) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return ErrClosed
	}
	if s.limit > 0 && s.pending >= s.limit {
		return ErrFull
	}
	s.waiting = append(s.waiting, item)
	s.pending++
	if len(s.waiting) == 1 {
		s.posted.Signal()
	}
	return nil
}

// Pending returns how many items are not consumed yet, those being sent included.
func (s *Sender[T]) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending
}

// Close takes no more items, waits until all are consumed or ctx ends, and stops the sender. It
// returns how many items were never given to send. It may be called again.
func (s *Sender[T]) Close(ctx context.Context) (abandoned int) {
	s.mu.Lock()
	s.closing = true
	s.posted.Signal()
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.cancel()
	<-s.done
	return s.Pending()
}

func (s *Sender[T]) run() {
	defer close(s.done)
	defer s.cancel()
	var batch []T
	for {
		batch = s.take(batch)
		if len(batch) == 0 {
			return
		}
		for rest := batch; len(rest) > 0; {
			if s.ctx.Err() != nil {
				return
			}
			n := min(len(rest), s.maxBatch)
			s.send(s.ctx, rest[:n:n])
			s.consumed(n)
			rest = rest[n:]
		}
	}
}

// take waits for items and returns all that there are; none means the end. The two buffers change
// places, so that a steady stream allocates nothing.
func (s *Sender[T]) take(empty []T) []T {
	if cap(empty) > keptItems {
		empty = nil
	}
	clear(empty)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 && !s.closing {
		s.posted.Wait()
	}
	batch := s.waiting
	s.waiting = empty[:0]
	return batch
}

func (s *Sender[T]) consumed(n int) {
	s.mu.Lock()
	s.pending -= n
	s.mu.Unlock()
}
