package client

import (
	"context"
	"errors"
	"sync"

	"dodoor/internal/cluster"
)

// Sink takes what tasks printed, one task at a time. A task whose Begin was called is ended before the next one begins.
type Sink interface {
	Begin(p *Printed) error
	Write(data []byte, errors bool) error
	End() error
}

// Printed is a task whose output is to be written.
type Printed struct {
	Position int64 // in the plan, or in the list
	Output
	Bytes int64  // of both streams; 0: there is nothing to fetch
	Task  *Ended // how it ended, for a sink that tells
}

const (
	ahead      = 8         // tasks whose output is fetched before their turn
	aheadBytes = 128 << 10 // of each of their streams
)

// Printer fetches what tasks printed, several at a time, and hands it to a sink task by task: as they end, or in order.
type Printer struct {
	cluster *Cluster
	ctx     context.Context
	sink    Sink
	ordered bool
	trouble func(p *Printed, err error) // told when an output could not be read whole
	broken  func(err error)             // told when the sink takes no more

	mu     sync.Mutex
	ready  []*Printed         // in the order of their turns
	early  map[int64]*Printed // those whose turn is later
	next   int64              // whose turn it is, where there is an order
	closed bool               // nothing more comes
	news   chan struct{}      // there is something in ready, or it is closed
	turns  chan *fetching     // in the order of their turns
	ended  chan error         // of the sink
}

// fetching is a task whose output is on its way.
type fetching struct {
	*Printed
	first [2]cluster.OutputChunk // of standard output, and of standard error
	err   error
	done  chan struct{}
}

// NewPrinter begins to print. What it reads before somebody's turn takes at most 2 MiB.
func (c *Cluster) NewPrinter(ctx context.Context, sink Sink, ordered bool, trouble func(*Printed, error), broken func(error)) *Printer {
	p := &Printer{cluster: c, ctx: ctx, sink: sink, ordered: ordered, trouble: trouble, broken: broken, early: map[int64]*Printed{},
		news: make(chan struct{}, 1), turns: make(chan *fetching, ahead), ended: make(chan error, 1)}
	go p.fetch()
	go func() { p.ended <- p.print() }()
	return p
}

// Add has a task printed when its turn comes. It does not wait.
func (p *Printer) Add(t *Printed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ordered {
		p.ready = append(p.ready, t)
	} else {
		p.early[t.Position] = t
		p.advance()
	}
	p.tell()
}

// advance has those wait no longer whose turn it is.
func (p *Printer) advance() {
	for t := p.early[p.next]; t != nil; t = p.early[p.next] {
		delete(p.early, p.next)
		p.ready = append(p.ready, t)
		p.next++
	}
}

func (p *Printer) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Close returns when everything is printed: also what has no neighbour in the order.
func (p *Printer) Close() error {
	p.mu.Lock()
	p.closed = true
	for ; len(p.early) > 0; p.next++ {
		p.advance()
	}
	p.tell()
	p.mu.Unlock()
	return <-p.ended
}

// take is the next task to fetch; false: there is none any more.
func (p *Printer) take() (*Printed, bool) {
	for {
		p.mu.Lock()
		if len(p.ready) > 0 {
			t := p.ready[0]
			p.ready[0] = nil
			p.ready = p.ready[1:]
			p.mu.Unlock()
			return t, true
		}
		closed := p.closed
		p.mu.Unlock()
		if closed {
			return nil, false
		}
		<-p.news
	}
}

// fetch reads ahead.
func (p *Printer) fetch() {
	defer close(p.turns)
	for {
		t, more := p.take()
		if !more {
			return
		}
		f := &fetching{Printed: t, done: make(chan struct{})}
		p.turns <- f // it has room for as many as are fetched before their turn
		if t.Bytes == 0 {
			close(f.done)
			continue
		}
		go func() {
			defer close(f.done)
			f.first[0], f.err = p.cluster.read(p.ctx, t.Output, false, 0, aheadBytes, 0)
			if f.err == nil && f.first[0].Printed != t.Bytes {
				f.first[1], f.err = p.cluster.read(p.ctx, t.Output, true, 0, aheadBytes, 0)
			}
		}()
	}
}

// print writes one task after the other.
func (p *Printer) print() (failed error) {
	for f := range p.turns {
		<-f.done
		if failed != nil {
			continue // whoever adds tasks does not wait for the sink
		}
		if err := p.write(f); errors.As(err, &writeError{}) {
			failed = err
			p.broken(err)
		} else if err != nil {
			p.trouble(f.Printed, err)
		}
	}
	return failed
}

func (p *Printer) write(f *fetching) error {
	if err := p.sink.Begin(f.Printed); err != nil {
		return writeError{err}
	}
	err := f.err
	for k := range f.first {
		if err == nil && f.first[k].Printed > 0 {
			err = p.cluster.copy(p.ctx, f.Output, k == 1, f.first[k], half{p.sink, k == 1})
		}
	}
	if ending := p.sink.End(); ending != nil {
		return writeError{ending}
	}
	return err
}

// half writes to one of a sink's two streams.
type half struct {
	sink   Sink
	errors bool
}

func (s half) Write(data []byte) (int, error) { return len(data), s.sink.Write(data, s.errors) }
