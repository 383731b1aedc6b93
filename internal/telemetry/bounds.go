package telemetry

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Bounds of a Server, so that whoever reaches its port costs little memory and keeps nobody out for long.
const (
	requestTimeout = 5 * time.Second // for a handshake, and for a request until its end
	replyTimeout   = time.Minute     // for an answer, which may be a profile of half a minute
	idleTimeout    = time.Minute     // between requests
	stopTimeout    = time.Second     // what a scrape in flight gets when the service stops
	maxHeader      = 16 << 10        // bytes
	maxBody        = 64 << 10        // bytes
	maxConnections = 128             // at a time
	maxOfPeer      = 32              // of these, from one address
	refusalsApart  = time.Minute     // between log lines about who was refused
)

// bounded is a listener that closes at once what exceeds maxConnections and maxOfPeer.
type bounded struct {
	net.Listener
	refused *refusals

	mu    sync.Mutex
	open  map[string]int // by address
	total int
}

func bound(l net.Listener, refused *refusals) *bounded {
	return &bounded{Listener: l, refused: refused, open: make(map[string]int)}
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := hostOf(c.RemoteAddr())
		if reason := b.enter(peer); reason != "" {
			b.refused.note(c.RemoteAddr().String(), reason)
			_ = c.Close()
			continue
		}
		return &counted{Conn: c, leave: sync.OnceFunc(func() { b.leave(peer) })}, nil
	}
}

// enter counts a connection of a peer, or says which bound it exceeds.
func (b *bounded) enter(peer string) (reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.total >= maxConnections:
		return fmt.Sprintf("there are %d connections already", b.total)
	case b.open[peer] >= maxOfPeer:
		return fmt.Sprintf("there are %d connections from this address already", b.open[peer])
	}
	b.total++
	b.open[peer]++
	return ""
}

func (b *bounded) leave(peer string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total--
	if b.open[peer]--; b.open[peer] == 0 {
		delete(b.open, peer)
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// hostOf is an address without its port.
func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// refusals logs who was refused: one line, then at most one each minute that says how many there were.
type refusals struct {
	log *slog.Logger

	mu    sync.Mutex
	last  time.Time
	since int // refusals that no line tells of
}

func (r *refusals) note(peer, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since++
	if now := time.Now(); r.last.IsZero() || now.Sub(r.last) >= refusalsApart {
		r.log.Warn("http: refused", "peer", peer, "reason", reason, "refused", r.since)
		r.last, r.since = now, 0
	}
}
