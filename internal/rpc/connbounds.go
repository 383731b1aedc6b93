package rpc

import (
	"errors"
	"fmt"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
)

// earlier keeps the deadline of a first message.
func (c *serverConn) earlier(deadline time.Time) time.Time {
	if first := c.came.Add(c.server.cfg.Limits.FirstMessage); !c.heard.Load() && first.Before(deadline) {
		return first
	}
	return deadline
}

// closeIdle hangs up unless a request would be lost.
func (c *serverConn) closeIdle() bool {
	if c.state.CompareAndSwap(idle, hungUp) || c.state.CompareAndSwap(arriving, hungUp) {
		c.Close()
		return true
	}
	return false
}

// hangUp also gives up a reply that is leaving.
func (c *serverConn) hangUp() bool {
	if c.state.CompareAndSwap(replying, hungUp) {
		c.Close()
		return true
	}
	return c.closeIdle()
}

// movable reports whether the connection waits for its peer, in the middle of something.
func (c *serverConn) movable() bool {
	state := c.state.Load()
	return state == arriving || state == replying
}

// rank tells how well a connection can be spared, the lower the better, if it can.
func (c *serverConn) rank() (rank int, spare bool) {
	switch state := c.state.Load(); {
	case !c.heard.Load():
		return 0, state == idle || state == arriving
	case !c.from.known:
		return 1, state == idle
	default:
		return 2, state == idle
	}
}

// charge books memory for messages, and hangs up on whoever has to make room.
func (c *serverConn) charge(bytes int) error {
	given, ok := c.server.traffic.take(c, int64(bytes))
	most := c.server.cfg.Limits.InFlight
	for _, other := range given {
		c.server.exceeded(InFlight, other, "most of the %d bytes of messages that may be under way are its own: one is given up", most)
	}
	if !ok {
		c.server.exceeded(InFlight, c.from.name, "more than %d bytes of messages would be under way, and most are its own", most)
		return errInFlight
	}
	return nil
}

// settle gives back what the last request took. What was read beyond it stays, and its reply until that is sent.
func (c *serverConn) settle() {
	c.frames.settle()
	if c.frames.charged {
		left := c.frames.large()
		c.frames.charged = left > 0
		c.server.traffic.keep(c, int64(left))
	}
}

// decoding books memory for what a message becomes. A small one is not counted, so that nothing is of a long poll: there are as few of
// the others as there are handlers.
func (c *serverConn) decoding(bytes int64) error {
	if c.frames.size() <= maxPollBytes {
		return nil
	}
	c.frames.charged = true
	if !c.server.traffic.decode(c, bytes) {
		c.crowded = true
		c.server.exceeded(InFlight, c.from.name, "what is being answered takes more than %d bytes", c.server.cfg.Limits.Decoded)
		return errInFlight
	}
	return nil
}

// inadmissible says why a request is not served now that has arrived; nil: it is.
func (c *serverConn) inadmissible(m Method) *dodoor.ServiceError {
	limits := &c.server.cfg.Limits
	if size := c.frames.held - lengthBytes; methods[m].waits && size > maxPollBytes {
		c.server.exceeded(LargeMessage, c.from.name, "%s and what follows it have %d bytes: at most %d are allowed", m, size, maxPollBytes)
		return refusal(dodoor.ErrorCode_INVALID, 0, "%s and what follows it have %d bytes: at most %d are allowed", m, size, maxPollBytes)
	}
	wait, ok := c.from.admits(time.Now(), limits.RequestRate)
	if ok {
		return nil
	}
	c.server.exceeded(RequestRate, c.from.name, "it sends more than %d requests a second", limits.RequestRate)
	return refusal(dodoor.ErrorCode_OVERLOADED, max(wait, shortWait), "%s sends more than %d requests a second to %s", c.from.name,
		limits.RequestRate, c.server.Addr())
}

// polls lets a long poll wait, unless too many of its peer do. It has to be followed by polled.
func (c *serverConn) polls(m Method) *dodoor.ServiceError {
	most := c.server.cfg.Limits.PeerPolls
	if c.from.polls.Add(1) <= int64(most) {
		return nil
	}
	c.server.exceeded(WaitingPolls, c.from.name, "more than %d long polls of it would wait", most)
	return refusal(dodoor.ErrorCode_OVERLOADED, shortWait, "%s: more than %d long polls of %s would wait at %s", m, most, c.from.name,
		c.server.Addr())
}

func (c *serverConn) polled() { c.from.polls.Add(-1) }

// tooLarge tells of a message that is larger than any may be.
func (c *serverConn) tooLarge(err error) {
	var bound thrift.TProtocolException
	if errors.As(err, &bound) && bound.TypeId() == thrift.SIZE_LIMIT {
		c.server.exceeded(LargeMessage, c.from.name, "%v", err)
	}
}

// shortWait is how long whoever sends too much is to stay away, at least.
const shortWait = 100 * time.Millisecond

// refusal is a declared answer that the service itself knows nothing of.
func refusal(code dodoor.ErrorCode, after time.Duration, format string, args ...any) *dodoor.ServiceError {
	e := &dodoor.ServiceError{Code: code, Message: fmt.Sprintf(format, args...)}
	if after > 0 {
		e.RetryAfterMs = millis(after)
	}
	return e
}

// tooMuch is the answer to a request that there is no memory for.
func (c *serverConn) tooMuch(m Method) *dodoor.ServiceError {
	return refusal(dodoor.ErrorCode_OVERLOADED, shortWait,
		"%s: %s answers requests that take %d bytes of memory: with this one it would be more", m, c.server.Addr(), c.server.cfg.Limits.Decoded)
}
