package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"dodoor/internal/identity"
)

// trust is what a connection was made on.
type trust struct {
	generation uint64    // of the bundle
	until      time.Time // the first of both ends' certificates expires; zero: over plaintext
}

// lasts reports whether the connection would be made like this again.
func (t trust) lasts(b *identity.Bundle) bool {
	return b == nil || t.generation == b.Generation() && time.Now().Before(t.until)
}

// introduce has both ends of a new connection prove who they are, and waits for the server's welcome.
func (p *pool) introduce(ctx context.Context, raw net.Conn, deadline time.Time) (*clientConn, error) {
	if limit := time.Now().Add(p.cfg.HandshakeTimeout); limit.Before(deadline) {
		raw.SetDeadline(limit)
	}
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	bundle := p.cfg.Bundle
	own := trust{generation: bundle.Generation(), until: bundle.NotAfter()}
	secure := tls.Client(raw, bundle.Client(p.expected))
	if err := secure.Handshake(); err != nil {
		return nil, p.noHandshake(err)
	}
	chain := secure.ConnectionState().PeerCertificates
	for _, c := range chain {
		if c.NotAfter.Before(own.until) {
			own.until = c.NotAfter
		}
	}
	server, err := bundle.Of(chain[0]) // which the handshake has verified
	if err == nil {
		err = welcomed(secure, server)
	}
	if err != nil {
		return nil, err
	}
	raw.SetDeadline(deadline)
	conn := newClientConn(secure, raw, p.maxBytes)
	conn.trust = own
	return conn, nil
}

// noHandshake says why there was none.
func (p *pool) noHandshake(err error) error {
	var header tls.RecordHeaderError
	var broken net.Error
	alert := alerted(err)
	switch {
	case alert != nil && alert.Error() == tls.AlertError(alertProtocolVersion).Error():
		return fmt.Errorf("%w: the service there speaks no TLS 1.3: its security.folder is empty, or it is another program", ErrUntrusted)
	case alert != nil:
		return fmt.Errorf("%w: the service there breaks the handshake off: %w", ErrUntrusted, err)
	case errors.As(err, &header):
		return fmt.Errorf("%w: what answers there does not speak TLS: %w", ErrUntrusted, err)
	case errors.Is(err, io.EOF), errors.As(err, &broken):
		return fmt.Errorf("no handshake: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUntrusted, unwrapped(err))
}

// alerted is what the peer says is wrong; nil: it says nothing. The library tells by the operation alone who has said it.
func alerted(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return op.Err
	}
	return nil
}

// unwrapped is what VerifyConnection said.
func unwrapped(err error) error {
	if wrapped, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return wrapped.Err
	}
	return err
}

// welcomed reads the server's greeting.
func welcomed(conn net.Conn, server identity.Identity) error {
	var length [1]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		if alerted(err) != nil {
			return fmt.Errorf("%w: %s refuses this process: %w", ErrUntrusted, server, err)
		}
		return fmt.Errorf("no welcome by %s: %w", server, err)
	}
	if length[0] == 0 {
		return nil
	}
	reason := make([]byte, length[0])
	if _, err := io.ReadFull(conn, reason); err != nil {
		return fmt.Errorf("no welcome by %s: %w", server, err)
	}
	return fmt.Errorf("%w: %s refuses this process: %s", ErrUntrusted, server, printable(reason))
}

// printable is text of a peer's, in characters that people can see.
func printable(text []byte) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 127 {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(string(text), "?"))
}
