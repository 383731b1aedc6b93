package rpc

import (
	"context"
	"errors"
	"strings"

	metrics "github.com/rcrowley/go-metrics"

	"dodoor/internal/cluster"
)

// Direction tells requests that this process received from those that it sent.
type Direction uint8

const (
	In Direction = iota
	Out

	numDirections
)

func (d Direction) String() string {
	if d == In {
		return "in"
	}
	return "out"
}

// Event is something worth counting that is not a request.
type Event uint8

const (
	Panicked           Event = iota // a handler panicked; its caller got an application exception
	BadMessage                      // bytes that are no request, a truncated or oversized one, or invalid values
	AcceptFailed                    // accepting failed (too many open files, ...); it is retried
	DialFailed                      // a connection could not be made: the request was not sent
	RejectedConnection              // closed at once: MaxConnections was reached, and none was idle
	RejectedPeer                    // the same of Limits.PeerConnections
	EvictedConnection               // an idle one closed, as another needed its place
	LateMessage                     // a handshake, a first message, or the rest of one took too long
	UnreadReply                     // a reply that its caller did not read in time
	LargeMessage                    // a message, or a list or a string in one, that is larger than any may be
	InFlight                        // a message or a reply given up: Limits.InFlight, or Limits.Decoded
	RequestRate                     // a request refused: Limits.RequestRate
	WaitingPolls                    // a long poll refused: Limits.PeerPolls
	RefusedConnection               // the peer's certificate is not accepted, or not any more, or there was no handshake

	numEvents
)

var eventNames = [numEvents]string{"panics", "bad_messages", "failed_accepts", "failed_dials", "rejected_connections", "rejected_peers",
	"evicted_connections", "late_messages", "unread_replies", "large_messages", "bytes_in_flight", "request_rate", "waiting_polls",
	"refused_connections"}

func (e Event) String() string {
	if e < numEvents {
		return eventNames[e]
	}
	return "unknown"
}

// Observer is told of every request message. Its methods are called concurrently from the hot path.
type Observer interface {
	// Begin is called before a received request is handled, and before a request is written. Whoever
	// holds a reply therefore finds its request counted.
	Begin(m Method, d Direction)
	// End follows every Begin, with the error: nil, a *cluster.Error, ErrRemote, ErrUnavailable, ...
	End(m Method, d Direction, err error)
	// Event reports what is not a request.
	Event(e Event)
}

// failure is a kind of error: up to numCodes the code that a service declares, and then what else can go wrong.
type failure uint8

const (
	numCodes = failure(cluster.Denied) + 1

	unavailable = numCodes + iota - 1
	remote
	tooLarge
	closed
	cancelled
	undeclared

	numFailures
)

var failureNames = [numFailures - numCodes]string{"unavailable", "remote", "too_large", "closed", "cancelled", "undeclared"}

func (f failure) String() string {
	if f < numCodes {
		return strings.ReplaceAll(cluster.ErrorCode(f).String(), " ", "_")
	}
	return failureNames[f-numCodes]
}

// failureOf tells of which kind an error is.
func failureOf(err error) failure {
	if code := failure(cluster.CodeOf(err)); code > 0 && code < numCodes {
		return code
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		return unavailable
	case errors.Is(err, ErrRemote):
		return remote
	case errors.Is(err, ErrTooLarge):
		return tooLarge
	case errors.Is(err, ErrClosed):
		return closed
	case errors.Is(err, context.Canceled):
		return cancelled
	}
	return undeclared
}

// Counters is an Observer that counts. Its zero value is ready.
type Counters struct {
	requests [numDirections][numMethods]metrics.StandardCounter
	errors   [numDirections][numMethods][numFailures]metrics.StandardCounter
	events   [numEvents]metrics.StandardCounter
}

// Begin implements Observer.
func (c *Counters) Begin(m Method, d Direction) { c.requests[d][m].Inc(1) }

// End implements Observer.
func (c *Counters) End(m Method, d Direction, err error) {
	if err != nil {
		c.errors[d][m][failureOf(err)].Inc(1)
	}
}

// Event implements Observer.
func (c *Counters) Event(e Event) { c.events[e].Inc(1) }

// Requests returns how many requests of kind m went in direction d.
func (c *Counters) Requests(m Method, d Direction) int64 { return c.requests[d][m].Count() }

// Errors returns how many of those ended with an error, declared ones included.
func (c *Counters) Errors(m Method, d Direction) (total int64) {
	for f := range c.errors[d][m] {
		total += c.errors[d][m][f].Count()
	}
	return total
}

// Events returns how often e happened.
func (c *Counters) Events(e Event) int64 { return c.events[e].Count() }

// Map returns every count that is not zero: "in.submit", "out.enqueue", "errors.out.enqueue",
// of which "errors.out.enqueue.stale", "panics", ...
func (c *Counters) Map() map[string]int64 {
	counts := make(map[string]int64)
	put := func(name string, n int64) {
		if n != 0 {
			counts[name] = n
		}
	}
	for d := In; d < numDirections; d++ {
		for m := Method(0); m < numMethods; m++ {
			put(d.String()+"."+m.String(), c.Requests(m, d))
			if c.Requests(m, d) == 0 {
				continue
			}
			failed := "errors." + d.String() + "." + m.String()
			put(failed, c.Errors(m, d))
			for f := failure(0); f < numFailures; f++ {
				put(failed+"."+f.String(), c.errors[d][m][f].Count())
			}
		}
	}
	for e := Event(0); e < numEvents; e++ {
		put(e.String(), c.Events(e))
	}
	return counts
}

// discard is the Observer of a Config without one.
type discard struct{}

func (discard) Begin(Method, Direction)      {}
func (discard) End(Method, Direction, error) {}
func (discard) Event(Event)                  {}
