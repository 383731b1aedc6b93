package rpc

import "sync"

// traffic is what messages take in memory, from their first bytes to the last of their replies. When there is no room for more, the
// largest message of whoever has most of it under way is given up, if it is arriving or leaving: those that are being answered end
// by themselves.
type traffic struct {
	limits *Limits

	mu      sync.Mutex
	holders map[*serverConn]struct{} // connections with something
	wire    int64                    // bytes of buffers
	decoded int64
}

// share is what one connection has of the traffic, under its lock.
type share struct {
	wire, decoded int64
}

// take lets a connection's buffers grow. Whoever has to give up a message for that is returned; if that is
// the connection itself, it gets nothing.
func (t *traffic) take(c *serverConn, bytes int64) (given []string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.wire+bytes > t.limits.InFlight {
		victim := t.largest(c, bytes)
		if victim == c || victim == nil {
			return given, false
		}
		if victim.hangUp() {
			given = append(given, victim.from.name)
		}
		t.free(victim)
	}
	t.holders[c] = struct{}{}
	t.wire += bytes
	c.share.wire += bytes
	c.from.wire += bytes
	return given, true
}

// largest finds who has most under way, one more of so many bytes included.
func (t *traffic) largest(next *serverConn, bytes int64) (victim *serverConn) {
	var most, own int64 // of the peer, and of its connection
	consider := func(c *serverConn, more int64) {
		peers, size := c.from.wire, c.share.wire+more
		if c.from == next.from {
			peers += bytes
		}
		if peers > most || peers == most && size > own {
			victim, most, own = c, peers, size
		}
	}
	consider(next, bytes)
	for c := range t.holders {
		if c != next && c.share.wire > 0 && c.movable() {
			consider(c, 0)
		}
	}
	return victim
}

// decode books what a connection's message becomes in memory, unless that is too much.
func (t *traffic) decode(c *serverConn, bytes int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decoded+bytes > t.limits.Decoded {
		return false
	}
	t.holders[c] = struct{}{}
	t.decoded += bytes
	c.share.decoded += bytes
	return true
}

// keep gives back all that a connection has beyond so many bytes of buffers.
func (t *traffic) keep(c *serverConn, wire int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wire = min(wire, c.share.wire) // nothing is left to whoever was given up meanwhile
	t.free(c)
	if wire > 0 {
		t.holders[c] = struct{}{}
		t.wire += wire
		c.share.wire = wire
		c.from.wire += wire
	}
}

// release gives back all that a connection has.
func (t *traffic) release(c *serverConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free(c)
}

func (t *traffic) free(c *serverConn) {
	t.wire -= c.share.wire
	c.from.wire -= c.share.wire
	t.decoded -= c.share.decoded
	c.share = share{}
	delete(t.holders, c)
}
