package rpc

import "context"

// acquire waits for a handler slot.
func (c *serverConn) acquire(ctx context.Context) bool {
	select {
	case c.server.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	c.holding = true
	return true
}

// slotKey finds the connection whose request holds a slot.
type slotKey struct{}

// slotted is the context of requests that hold a slot.
func (c *serverConn) slotted() context.Context {
	if c.handling == nil {
		c.handling = context.WithValue(c.server.handling, slotKey{}, c)
	}
	return c.handling
}

// Waits gives back the slot of the request with this context: it is going to wait, and others are handled meanwhile. Only the goroutine
// that handles the request may call it.
func Waits(ctx context.Context) {
	if c, slotted := ctx.Value(slotKey{}).(*serverConn); slotted {
		c.release()
	}
}

// release gives the slot back; twice is fine.
func (c *serverConn) release() {
	if c.holding {
		c.holding = false
		<-c.server.slots
	}
}
