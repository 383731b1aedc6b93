package rpctest

import (
	"slices"
	"sync"
)

// Turns lets goroutines pass one at a time, in an order that does not depend on the Go scheduler. What
// asks for a turn while the same turn lasts is sorted; groups pass first come, first served. So a
// whole cluster inside a testing/synctest bubble runs like a simulator's event loop.
type Turns[K any] struct {
	settle  func()
	compare func(a, b K) int
	asked   chan struct{}
	quit    chan struct{}
	done    chan struct{}

	mu    sync.Mutex
	fresh []turn[K] // asked for in the present turn
	quiet []chan struct{}
}

type turn[K any] struct {
	key   K
	begin chan struct{}
}

// NewTurns starts giving turns; Close ends that. A turn lasts until settle returns: it waits until
// everybody else waits (synctest.Wait, which nobody else in the bubble may call then).
func NewTurns[K any](settle func(), compare func(a, b K) int) *Turns[K] {
	t := &Turns[K]{settle: settle, compare: compare, asked: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

// Take waits for the caller's turn. Equal keys pass in any order.
func (t *Turns[K]) Take(key K) {
	begin := make(chan struct{})
	t.mu.Lock()
	t.fresh = append(t.fresh, turn[K]{key, begin})
	t.mu.Unlock()
	t.ask()
	<-begin
}

// Quiet returns when nobody waits for a turn and the last one is over. Time does not pass meanwhile.
func (t *Turns[K]) Quiet() {
	reached := make(chan struct{})
	t.mu.Lock()
	t.quiet = append(t.quiet, reached)
	t.mu.Unlock()
	t.ask()
	<-reached
}

// Close stops giving turns. Nobody may wait for one.
func (t *Turns[K]) Close() {
	close(t.quit)
	<-t.done
}

func (t *Turns[K]) ask() {
	select {
	case t.asked <- struct{}{}:
	default:
	}
}

func (t *Turns[K]) run() {
	defer close(t.done)
	for {
		select {
		case <-t.asked:
			t.pass()
		case <-t.quit:
			return
		}
	}
}

// pass gives turns until nobody waits for one.
func (t *Turns[K]) pass() {
	var line []turn[K]
	for {
		t.settle()
		line = append(line, t.collect(len(line) == 0)...)
		if len(line) == 0 {
			return
		}
		close(line[0].begin)
		line = line[1:]
	}
}

// collect returns what was asked for in the turn that is over, in order. When that is nothing, and
// nobody is in line, it is quiet.
func (t *Turns[K]) collect(idle bool) []turn[K] {
	t.mu.Lock()
	defer t.mu.Unlock()
	group := t.fresh
	t.fresh = nil
	slices.SortStableFunc(group, func(a, b turn[K]) int { return t.compare(a.key, b.key) })
	if idle && len(group) == 0 {
		for _, reached := range t.quiet {
			close(reached)
		}
		t.quiet = nil
	}
	return group
}
