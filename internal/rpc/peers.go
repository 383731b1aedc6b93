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
	polls atomic.Int64 // that wait
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
	bound, ok, evicted := s.place(c, hostOf(c.RemoteAddr()))
	s.evicted(evicted)
	return bound, ok
}

// place finds room for a connection of a peer, and says of whom those were that left for it. A newcomer counts before they leave: theirs
// may be all that the peer had.
func (s *Server) place(c *serverConn, name string) (bound Event, ok bool, evicted []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.origin(name)
	if from.conns++; from.conns > s.cfg.Limits.PeerConnections {
		if evicted = s.makeRoom(from); len(evicted) == 0 {
			s.part(from)
			return RejectedPeer, false, nil
		}
	} else if len(s.conns) >= s.cfg.MaxConnections {
		if evicted = s.makeRoom(nil); len(evicted) == 0 {
			s.part(from)
			return RejectedConnection, false, nil
		}
	}
	c.from = from
	s.conns[c] = struct{}{}
	s.serve.Add(1)
	return 0, true, evicted
}

// known books a connection under the identity that it has proved; it is not let in where that has too many.
func (s *Server) known(c *serverConn) bool {
	if c.caller.Role == identity.None {
		return true
	}
	name := c.caller.String()
	here, full, evicted := s.rename(c, name)
	s.evicted(evicted)
	if full {
		s.exceeded(RejectedPeer, name, "there are %d connections of it, and none is idle", s.cfg.Limits.PeerConnections)
	}
	return here && !full
}

// rename makes a connection one of a known peer, if it is still here and the peer has room for it.
func (s *Server) rename(c *serverConn, name string) (here, full bool, evicted []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.origin(name)
	to.known = true
	if to.conns++; to.conns > s.cfg.Limits.PeerConnections {
		evicted = s.makeRoom(to)
		full = len(evicted) == 0
	}
	if _, here = s.conns[c]; !here || full {
		s.part(to)
		return here, full, evicted
	}
	s.part(c.from)
	s.traffic.mu.Lock()
	c.from = to // nothing of it is under way
	s.traffic.mu.Unlock()
	return true, false, evicted
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

// part counts one connection less of a peer, and forgets who has none.
func (s *Server) part(o *origin) {
	if o.conns--; o.conns == 0 && s.origins[o.name] == o {
		delete(s.origins, o.name)
	}
}

// leave takes a connection out. Twice is fine.
func (s *Server) leave(c *serverConn) {
	if _, here := s.conns[c]; here {
		delete(s.conns, c)
		s.part(c.from)
	}
}

// makeRoom closes idle connections of one peer, or of all: those that have said nothing yet first, then those of nobody
// that is known, and of each kind the ones that have been idle for longest. Looking at all of them costs something, so several
// go; it returns of whom they were.
func (s *Server) makeRoom(of *origin) (evicted []string) {
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
	most := 1 + s.cfg.MaxConnections/256
	for _, v := range idle {
		if len(evicted) == most {
			break
		}
		if v.conn.closeIdle() {
			s.leave(v.conn)
			evicted = append(evicted, v.conn.from.name)
		}
	}
	return evicted
}

// evicted tells of whom connections were that made room. Nobody waits for a log under the server's lock.
func (s *Server) evicted(names []string) {
	for _, name := range names {
		s.exceeded(EvictedConnection, name, "an idle connection of it made room for another")
	}
}
