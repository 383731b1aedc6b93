package rpc

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"dodoor/internal/identity"
)

// Config sizes both ends of a connection. A field that is zero (or less) takes its value from
// Default, except where zero is given a meaning.
type Config struct {
	// MaxMessageBytes bounds one message in either direction, before its bytes are believed.
	// MaxSnapshotBytes takes its place on the scheduler and the data service, whose messages grow
	// with the number of nodes (a whole snapshot with its roster: about 200 bytes a node).
	MaxMessageBytes  int
	MaxSnapshotBytes int

	DialTimeout time.Duration // making a connection, within the call's own deadline
	CallTimeout time.Duration // a call whose context has no deadline; Collect adds its wait
	PoolSize    int           // connections, and so concurrent calls, per client

	MaxConnections int           // per server; for further ones idle ones are closed, or else they are
	MaxHandlers    int           // requests running at once per server (paper: 8 a scheduler, 16 a worker)
	MessageTimeout time.Duration // rest of a message once it has begun to arrive; writing a reply
	IdleTimeout    time.Duration // between messages; 0: no limit
	StopGrace      time.Duration // for running handlers when the server stops
	Limits         Limits

	Bundle           *identity.Bundle // proves who this process is, and checks its peers; nil: plaintext, and everything is allowed
	HandshakeTimeout time.Duration    // until both ends of a new connection know each other

	// Peer is the name that the certificate of a client's server must have; empty: any. Its role is the client's business.
	Peer string

	Observer Observer     // nil: nobody counts
	Log      *slog.Logger // nil: slog.Default()

	// Dial makes a client's connection, Listen a server's listener; nil: TCP. Together they put services
	// on another network, such as one in memory.
	Dial   func(ctx context.Context, addr string) (net.Conn, error)
	Listen func(addr string) (net.Listener, error)
}

// Default returns the settings of a service that nobody has configured.
func Default() Config {
	var tcp net.Dialer
	return Config{
		MaxMessageBytes:  2 << 20,
		MaxSnapshotBytes: 32 << 20,
		DialTimeout:      2 * time.Second,
		CallTimeout:      10 * time.Second,
		PoolSize:         4,
		MaxConnections:   16384,
		MaxHandlers:      8,
		MessageTimeout:   10 * time.Second,
		IdleTimeout:      10 * time.Minute,
		StopGrace:        5 * time.Second,
		HandshakeTimeout: 5 * time.Second,
		Observer:         discard{},
		Log:              slog.Default(),
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return tcp.DialContext(ctx, "tcp", addr)
		},
		Listen: func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) },
	}
}

// To is the configuration of a client for the service of a name.
func (c Config) To(name string) Config {
	c.Peer = name
	return c
}

// Bind makes a listener, for a service that has to know its own address before it serves.
func (c Config) Bind(addr string) (net.Listener, error) { return c.filled().Listen(addr) }

// filled returns c with Default's values where c has none.
func (c Config) filled() Config {
	d := Default()
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, d.MaxMessageBytes)
	c.MaxSnapshotBytes = cmp.Or(c.MaxSnapshotBytes, d.MaxSnapshotBytes)
	c.DialTimeout = cmp.Or(c.DialTimeout, d.DialTimeout)
	c.CallTimeout = cmp.Or(c.CallTimeout, d.CallTimeout)
	c.PoolSize = cmp.Or(c.PoolSize, d.PoolSize)
	c.MaxConnections = cmp.Or(c.MaxConnections, d.MaxConnections)
	c.MaxHandlers = cmp.Or(c.MaxHandlers, d.MaxHandlers)
	c.MessageTimeout = cmp.Or(c.MessageTimeout, d.MessageTimeout)
	c.StopGrace = cmp.Or(c.StopGrace, d.StopGrace)
	c.HandshakeTimeout = cmp.Or(c.HandshakeTimeout, d.HandshakeTimeout)
	c.Observer, c.Log = cmp.Or(c.Observer, d.Observer), cmp.Or(c.Log, d.Log)
	if c.Dial == nil {
		c.Dial = d.Dial
	}
	if c.Listen == nil {
		c.Listen = d.Listen
	}
	return c
}
