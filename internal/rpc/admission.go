package rpc

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/internal/identity"
)

// A server with a bundle speaks TLS 1.3 alone. TLS tells a refused client a number; so the server looks at the client's certificate when
// the handshake is over, and answers with a greeting: a byte for the length of the reason why the client is refused, and the reason. No
// length is a welcome. Nothing that a client sends is read before it is welcome.

const (
	maxReason    = 255
	tlsHandshake = 22 // the first byte of a connection over TLS; no message is so large that it would be that of its length
)

// opened is a connection of which the first byte was looked at.
type opened struct {
	net.Conn
	first  [1]byte
	unread bool

	charge func(bytes int) error // for what a handshake takes; nil: it is over
	got    int                   // bytes of it
}

// freeHandshake is how many bytes of a handshake nobody counts: a usual one has no more. Its messages may have sixteen times as many.
const freeHandshake = 1 << 12

func (c *opened) Read(b []byte) (int, error) {
	if c.unread && len(b) > 0 {
		c.unread = false
		b[0] = c.first[0]
		return 1, nil
	}
	n, err := c.Conn.Read(b)
	if c.charge != nil {
		if c.got += n; c.got > freeHandshake {
			err = cmp.Or(c.charge(n), err)
		}
	}
	return n, err
}

// admit finds out who the peer is. It reports whether the peer may stay.
func (c *serverConn) admit() bool {
	secure, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true
	}
	s := c.server
	c.state.CompareAndSwap(idle, arriving)
	c.raw.SetDeadline(time.Now().Add(s.cfg.HandshakeTimeout))
	err := c.shakeHands(secure)
	if err != nil {
		if !s.closed() && !errors.Is(err, io.EOF) { // somebody who says nothing at all only looks whether a service listens
			s.turnedAway("connection refused", c, err)
		}
		return false
	}
	if c.raw.charge = nil; c.raw.got > freeHandshake {
		s.traffic.release(c)
	}
	return c.raw.SetDeadline(time.Time{}) == nil && c.state.CompareAndSwap(arriving, idle)
}

func (c *serverConn) shakeHands(secure *tls.Conn) error {
	if _, err := io.ReadFull(c.raw.Conn, c.raw.first[:]); err != nil {
		return fmt.Errorf("no handshake came: %w", err)
	}
	if c.raw.first[0] != tlsHandshake {
		c.turnAway()
		return errors.New("the peer speaks plaintext, and this service TLS alone: the peer's security.folder is empty, or it is no peer")
	}
	c.raw.unread = true
	if err := secure.Handshake(); err != nil {
		return c.broke(err)
	}
	refusal := c.identify(secure.ConnectionState().PeerCertificates)
	if _, err := secure.Write(greeting(refusal)); err != nil && refusal == nil {
		return c.broke(err)
	}
	return refusal
}

// broke says why there was no handshake.
func (c *serverConn) broke(err error) error {
	if alerted(err) != nil {
		own := c.server.cfg.Bundle
		return fmt.Errorf("the peer does not accept the certificate of %s, which is good until %s: %w", own.Own(),
			identity.Written(own.NotAfter()), err)
	}
	return fmt.Errorf("the handshake failed: %w", err)
}

// identify says who shows a certificate. Should other certificates count meanwhile, they count from the start.
func (c *serverConn) identify(chain []*x509.Certificate) error {
	bundle := c.server.cfg.Bundle
	for {
		generation := bundle.Generation()
		caller, err := bundle.Verify(chain, time.Now())
		if err != nil {
			return err
		}
		c.caller = caller
		c.server.mu.Lock()
		c.chain = chain
		c.server.mu.Unlock()
		if bundle.Generation() == generation {
			return nil
		}
	}
}

// greeting is the server's first word.
func greeting(refusal error) []byte {
	if refusal == nil {
		return []byte{0}
	}
	reason := []byte(refusal.Error())
	reason = reason[:min(len(reason), maxReason)]
	return append([]byte{byte(len(reason))}, reason...)
}

// turnAway answers a request in plaintext with the reason why nobody will, if the bytes that came are one.
func (c *serverConn) turnAway() {
	conn := c.raw.Conn
	begun := make([]byte, frameBytes)
	n, err := io.ReadAtLeast(conn, begun, lengthBytes-1+shortestCall)
	if err != nil {
		return
	}
	ctx := c.server.handling
	request := thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(begun[lengthBytes-1 : n])}, nil)
	name, kind, seq, err := request.ReadMessageBegin(ctx)
	if err != nil || kind != thrift.CALL {
		return
	}
	refuse(ctx, stack(&frames{conn: conn}, frameBytes), name, seq, thrift.INTERNAL_ERROR,
		"this service takes connections over TLS alone: set security.folder to where your certificate is")
	lastWords(conn)
}

// lastWords lets a peer read what was written before its connection is closed: what is unread then takes back what was answered.
func lastWords(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		io.Copy(io.Discard, io.LimitReader(conn, maxUnread))
	}
}

// maxUnread is how much of what nobody reads is waited for.
const maxUnread = 1 << 20

// shortestCall is a request without arguments, of a method with a short name.
const shortestCall = 8

// oversee hangs up on peers whose certificates are not accepted any more, until the server stops: it looks at them all when others count
// than before, and now and then at when they end.
func (s *Server) oversee() {
	bundle := s.cfg.Bundle
	ticker := time.NewTicker(overseeEvery)
	defer ticker.Stop()
	for {
		changed := bundle.Changed()
		s.dismiss(func(chain []*x509.Certificate) error {
			_, err := bundle.Verify(chain, time.Now())
			return err
		})
		for again := false; !again; {
			select {
			case <-changed:
				again = true
			case <-ticker.C:
				s.dismiss(func(chain []*x509.Certificate) error { return bundle.Accepts(chain, time.Now()) })
			case <-s.quit:
				return
			}
		}
	}
}

// overseeEvery is how late it may be noticed that a peer's certificate has expired.
const overseeEvery = 10 * time.Second

// dismiss hangs up on those whose certificates fail.
func (s *Server) dismiss(check func([]*x509.Certificate) error) {
	known := make(map[*serverConn][]*x509.Certificate)
	s.each(func(c *serverConn) {
		if c.chain != nil {
			known[c] = c.chain
		}
	})
	for c, chain := range known {
		if err := check(chain); err != nil {
			s.turnedAway("hung up", c, err)
			c.Close()
			s.mu.Lock()
			c.chain = nil // once: its handler may take a while to end
			s.mu.Unlock()
		}
	}
}

// turnedAway tells of a peer that is not let in, or not any more.
func (s *Server) turnedAway(what string, c *serverConn, err error) {
	s.cfg.Observer.Event(RefusedConnection)
	s.complaints.warn(s.cfg.Log, time.Now(), what, "peer", c.RemoteAddr(), "error", err)
}
