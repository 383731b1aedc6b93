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

// release gives the slot back; twice is fine.
func (c *serverConn) release() {
	if c.holding {
		c.holding = false
		<-c.server.slots
	}
}
