package telemetry

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dodoor/internal/identity"
)

// pipes is a listener whose connections are in memory, so that time is the test's.
type pipes struct {
	next   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// of is a connection from an address.
type of struct {
	net.Conn
	peer *net.TCPAddr
}

func (c of) RemoteAddr() net.Addr { return c.peer }

func (p *pipes) dial(last byte) net.Conn {
	ours, theirs := net.Pipe()
	p.next <- of{theirs, &net.TCPAddr{IP: net.IPv4(10, 0, 0, last), Port: 1}}
	return ours
}

// inMemory runs a server within a bubble of time until the test's function returns.
func inMemory(t *testing.T, access Access, log *slog.Logger, test func(*pipes)) {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	s := serving(ServerConfig{Ready: func() error { return nil }, Access: access, Log: log}, prometheus.NewRegistry(), p)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	test(p)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Whoever is slow in the handshake, in the header, in the body, or between requests is hung up on.
func TestSlowPeersAreHungUpOn(t *testing.T) {
	own := newCluster(t).bundle(identity.Worker, "w")
	const request = "GET /healthz HTTP/1.1\r\nHost: x\r\n"
	for name, c := range map[string]struct {
		access  Access
		sends   string
		trickle string // sent each second
		within  time.Duration
	}{
		"a silent handshake":   {Access{Bundle: own}, "", "", requestTimeout},
		"a slow handshake":     {Access{Bundle: own}, "\x16\x03\x01\x02\x00", "\x01", requestTimeout},
		"a silent connection":  {Access{}, "", "", requestTimeout},
		"a header for ever":    {Access{}, request, "X: y\r\n", requestTimeout},
		"a body for ever":      {Access{}, request + "Content-Length: 1000\r\n\r\n", "x", requestTimeout + time.Second},
		"nothing more to say":  {Access{}, request + "\r\n", "", idleTimeout},
		"a denied one at once": {Access{Token: aToken}, request + "\r\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inMemory(t, c.access, quiet(), func(p *pipes) {
					conn := p.dial(1)
					defer conn.Close()
					begin := time.Now()
					hungUp := make(chan struct{})
					go func() {
						_, _ = io.Copy(io.Discard, conn)
						close(hungUp)
					}()
					_, _ = io.WriteString(conn, c.sends)
					tick := time.NewTicker(time.Second)
					defer tick.Stop()
					for open := true; open; {
						select {
						case <-hungUp:
							open = false
						case <-tick.C:
							_ = conn.SetWriteDeadline(time.Now().Add(time.Second / 2))
							_, _ = io.WriteString(conn, c.trickle)
						}
						if time.Since(begin) > c.within+time.Second {
							t.Fatalf("still open after %s", time.Since(begin))
						}
					}
				})
			})
		})
	}
}

// A peer that does not read its answer is hung up on too.
func TestAPeerThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inMemory(t, Access{}, quiet(), func(p *pipes) {
			conn := p.dial(1)
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			<-time.After(replyTimeout + time.Second)
			if _, err := io.ReadAll(conn); err != nil {
				t.Errorf("still open: %v", err)
			}
		})
	})
}

// Connections beyond the bounds are closed at once, others are served, and who leaves makes room. The log has one line.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		inMemory(t, Access{}, slog.New(slog.NewTextHandler(&said, nil)), func(p *pipes) {
			refused := func(c net.Conn) bool {
				_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err := c.Read(make([]byte, 1))
				return err == io.EOF
			}
			var open []net.Conn
			for n := range maxConnections {
				open = append(open, p.dial(byte(n/maxOfPeer)))
			}
			synctest.Wait()
			for n, c := range open {
				if refused(c) {
					t.Fatalf("connection %d is refused", n)
				}
			}
			for range 10 {
				if c := p.dial(200); !refused(c) {
					t.Error("one too many")
				}
			}
			for _, c := range open[:2] {
				_ = c.Close()
			}
			synctest.Wait()
			other := p.dial(200)
			defer other.Close()
			if refused(other) {
				t.Error("no room was made")
			}
			if c := p.dial(1); !refused(c) {
				t.Error("a peer has more than its share")
			}
			for _, c := range open {
				_ = c.Close()
			}
			synctest.Wait()
		})
		if n := strings.Count(said.String(), "http: refused"); n != 1 || !strings.Contains(said.String(), "128 connections already") {
			t.Errorf("%d lines: %s", n, &said)
		}
	})
}
