package rpc

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"dodoor/internal/identity"
)

// origin is a peer of a server: an address, or an identity.
type origin struct {
	name  string
	known bool         // an identity
	conns int          // under the server's lock
	wire  int64        // bytes of its messages, under the traffic's
	next  atomic.Int64 // when its next request would be due at the bounded rate, in ns
}

// hostOf names the peer at an address: a machine, or the network that one has for itself.
func hostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() && !ip.IsLoopback() {
		network, _ := ip.WithZone("").Prefix(64)
		return network.String()
	}
	return host
}

// admits takes one more request of a peer now, unless it has sent more than a second's; then it says when one is due.
func (o *origin) admits(now time.Time, rate int) (wait time.Duration, ok bool) {
	each := int64(time.Second) / int64(rate)
	for at := now.UnixNano(); ; {
		next := o.next.Load()
		due := max(next, at)
		if over := due - at + each - int64(time.Second); over > 0 {
			return time.Duration(over), false
		}
		if o.next.CompareAndSwap(next, due+each) {
			return 0, true
		}
	}
}

// enter takes a connection in. Without room for it idle ones leave: they have lost nothing that anybody has seen, and whoever has a
// request comes again.
func (s *Server) enter(c *serverConn) (bound Event, ok bool) {
	name := hostOf(c.RemoteAddr())
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.origin(name)
	switch {
	case from.conns >= s.cfg.Limits.PeerConnections && !s.makeRoom(from):
		bound = RejectedPeer
	case len(s.conns) >= s.cfg.MaxConnections && !s.makeRoom(nil):
		bound = RejectedConnection
	default:
		c.from = from
		from.conns++
		s.conns[c] = struct{}{}
		s.serve.Add(1)
		return 0, true
	}
	s.forget(from)
	return bound, false
}

// known books a connection under the identity that it has proved; it is not let in where that has too many.
func (s *Server) known(c *serverConn) bool {
	if c.caller.Role == identity.None {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.origin(c.caller.String())
	to.known = true
	full := to.conns >= s.cfg.Limits.PeerConnections && !s.makeRoom(to)
	if _, here := s.conns[c]; here && !full {
		c.from.conns--
		s.forget(c.from)
		to.conns++
		s.traffic.mu.Lock()
		c.from = to // nothing of it is under way
		s.traffic.mu.Unlock()
		return true
	}
	s.forget(to)
	if full {
		s.exceeded(RejectedPeer, to.name, "there are %d connections of it, and none is idle", s.cfg.Limits.PeerConnections)
	}
	return false
}

// origin returns what is known of a peer.
func (s *Server) origin(name string) *origin {
	o := s.origins[name]
	if o == nil {
		o = &origin{name: name}
		s.origins[name] = o
	}
	return o
}

func (s *Server) forget(o *origin) {
	if o.conns == 0 {
		delete(s.origins, o.name)
	}
}

// leave takes a connection out. Twice is fine.
func (s *Server) leave(c *serverConn) {
	if _, here := s.conns[c]; here {
		delete(s.conns, c)
		c.from.conns--
		s.forget(c.from)
	}
}

// makeRoom closes idle connections of one peer, or of all: those that have said nothing yet first, then those of nobody
// that is known, and of each kind the ones that have been idle for longest. Looking at all of them costs something, so several go.
func (s *Server) makeRoom(of *origin) bool {
	type candidate struct {
		conn  *serverConn
		rank  int
		since int64
	}
	var idle []candidate
	for c := range s.conns {
		if rank, spare := c.rank(); spare && (of == nil || c.from == of) {
			idle = append(idle, candidate{c, rank, c.since.Load()})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int { return cmp.Or(a.rank-b.rank, cmp.Compare(a.since, b.since)) })
	closed, most := 0, 1+s.cfg.MaxConnections/256
	for _, v := range idle {
		if closed == most {
			break
		}
		if v.conn.closeIdle() {
			closed++
			s.leave(v.conn)
			s.exceeded(EvictedConnection, v.conn.from.name, "an idle connection of it made room for another")
		}
	}
	return closed > 0
}
