// Package client brings jobs to a cluster and fetches what comes of them. No service owns a job: every question goes to
// all schedulers, and the answers are put together here.
package client

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// Cluster is whom a client talks to.
type Cluster struct {
	Schedulers []session.Target
	Nodes      func(context.Context) ([]cluster.NodeStatus, error) // the workers that are registered; nil: nobody asks workers
	Connect    func(name, address string) Worker                   // to the worker of a name; does not wait

	// Listed and Join let submissions follow the schedulers that are registered, as session.Config says. nil: they do not.
	Listed func(context.Context) ([]cluster.SchedulerRef, error)
	Join   func(cluster.SchedulerRef) session.Target

	Absent []Absent // what they hold alone is missing from every answer about tasks and jobs, as of those that do not answer

	News func(*generator.News) // what submissions find out about schedulers; it does not wait. nil: nobody wants to know

	mu      sync.Mutex
	known   map[string]string // addresses of workers, by name
	workers map[place]Worker  // connections
}

// Worker is a connection to a worker.
type Worker interface {
	rpc.Worker
	io.Closer
}

// Close hangs up on the workers. The schedulers are whoever's who named them.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		w.Close()
	}
	c.workers = nil
}

// place is where a worker is.
type place struct{ name, address string }

// dial is the connection to a worker at an address.
func (c *Cluster) dial(name, address string) Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{name, address}
	w := c.workers[at]
	if w == nil {
		if c.workers == nil {
			c.workers = map[place]Worker{}
		}
		w = c.Connect(name, address)
		c.workers[at] = w
	}
	return w
}

// worker is the connection to the worker of a name. It asks who is registered when it does not know the name.
func (c *Cluster) worker(ctx context.Context, name string) (Worker, error) {
	address, known := c.address(name)
	if !known {
		nodes, err := c.Nodes(ctx)
		if err != nil {
			return nil, err
		}
		c.note(nodes)
		if address, known = c.address(name); !known {
			return nil, awayError{name, nil}
		}
	}
	return c.dial(name, address), nil
}

func (c *Cluster) address(name string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	address, known := c.known[name]
	return address, known
}

// note remembers where workers are.
func (c *Cluster) note(nodes []cluster.NodeStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = make(map[string]string, len(nodes))
	for i := range nodes {
		c.known[nodes[i].Node.Name] = nodes[i].Node.Address
	}
}

// forget has the next one who asks for a worker look where it is now.
func (c *Cluster) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, name)
}

// awayError says that what a task printed cannot be read for now.
type awayError struct {
	worker string
	err    error // nil: it is not registered
}

func (e awayError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("its output is on worker %s, which is away: it can be read again when that is back", e.worker)
	}
	return fmt.Sprintf("its output is on worker %s, which does not answer (%v): it can be read again when that is back", e.worker, e.err)
}

func (e awayError) Unwrap() error { return e.err }

// Absent is a scheduler that was registered, and is not any more.
type Absent struct {
	Name string
	Ago  time.Duration // it was there
}

// Error says what follows from it.
func (a Absent) Error() string {
	return fmt.Sprintf("%s was there %v ago and is not now: what it holds alone is not shown", a.Name, a.Ago.Round(time.Second))
}

// absent is the errors of the schedulers that are absent.
func (c *Cluster) absent() (errs []error) {
	for _, a := range c.Absent {
		errs = append(errs, a)
	}
	return errs
}

// every is each, and the errors of those that are absent follow.
func (c *Cluster) every(do func(i int, s *session.Target) error) []error {
	return append(c.each(do), c.absent()...)
}

// each calls do for every scheduler at once, and returns the errors in their order, with the scheduler's name.
func (c *Cluster) each(do func(i int, s *session.Target) error) []error {
	errs := make([]error, len(c.Schedulers))
	var calls sync.WaitGroup
	for i := range c.Schedulers {
		calls.Go(func() {
			if err := do(i, &c.Schedulers[i]); err != nil {
				errs[i] = fmt.Errorf("scheduler %s: %w", c.Schedulers[i].Name, err)
			}
		})
	}
	calls.Wait()
	return errs
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
