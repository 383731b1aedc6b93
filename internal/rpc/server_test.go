package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// frame is a frame's length, and as many bytes of it as given.
func frame(length uint32, body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, length), body...)
}

// cancelRequest is one whole message, as a client writes it.
func cancelRequest(t testing.TB, id string) []byte {
	t.Helper()
	client, server := net.Pipe()
	defer client.Close()
	done := make(chan []byte)
	go func() {
		b := make([]byte, 4096)
		n, _ := server.Read(b)
		server.Close()
		done <- b[:n]
	}()
	cfg := quiet()
	cfg.Dial = func(context.Context, string) (net.Conn, error) { return client, nil }
	schedulerClient(t, "", cfg).Cancel(background, id)
	return <-done
}

// hangsUp waits for the server to close the connection, and returns how long that took.
func hangsUp(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v; want the connection closed", n, err)
	}
	return time.Since(start)
}

// askFirst sends a connection's first request, and reads the reply.
func askFirst(t *testing.T, conn net.Conn) {
	t.Helper()
	go conn.Write(cancelRequest(t, "t"))
	if _, err := io.ReadFull(conn, make([]byte, lengthBytes)); err != nil {
		t.Fatalf("no reply: %v", err)
	}
	if _, err := conn.Read(make([]byte, 100)); err != nil {
		t.Fatalf("no reply: %v", err)
	}
}

func answering() *fakeScheduler {
	return &fakeScheduler{
		cancel: func(context.Context, string) (bool, error) { return true, nil },
		settle: func(context.Context) error { return nil },
	}
}

func answers(t *testing.T, c *SchedulerClient) {
	t.Helper()
	if found, err := c.Cancel(background, "t"); !found || err != nil {
		t.Errorf("got %v, %v; want an answer", found, err)
	}
}

// TestHalfOpenConnections: peers that stop in the middle of a message hold no handler, and not their
// connection for longer than MessageTimeout; peers that send nothing have the time of a first message.
func TestHalfOpenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := &Counters{}
		cfg := quiet()
		cfg.MaxHandlers, cfg.MessageTimeout, cfg.Observer = 1, 7*time.Second, counters
		_, l, client := inMemory(t, SchedulerService(answering(), dims), cfg)
		silent := dialMemory(t, l)
		partial := make([]net.Conn, 10)
		for i := range partial {
			partial[i] = dialMemory(t, l)
			partial[i].Write(frame(100, "\x82\x21\x01\x06")[:1+i%8])
		}
		answers(t, schedulerClient(t, "", client))
		if waited := hangsUp(t, partial[0]); waited != 7*time.Second {
			t.Errorf("hung up after %v, want 7s", waited)
		}
		for _, conn := range partial[1:] {
			if waited := hangsUp(t, conn); waited != 0 {
				t.Errorf("hung up %v later than the first", waited)
			}
		}
		if n := counters.Events(BadMessage); n != 10 {
			t.Errorf("%d bad messages, want 10", n)
		}
		if _, err := silent.Write(frame(1, "")); err != nil {
			t.Errorf("silent peer: %v", err)
		}
	})
}

// TestSlowLoris: a message that trickles in has no more time than one that does not.
func TestSlowLoris(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.MessageTimeout = 7 * time.Second
		_, l, _ := inMemory(t, SchedulerService(answering(), dims), cfg)
		conn := dialMemory(t, l)
		start := time.Now()
		for _, b := range frame(100, strings.Repeat("x", 100)) {
			if _, err := conn.Write([]byte{b}); err != nil {
				break
			}
			<-time.After(time.Second)
		}
		if lasted := time.Since(start); lasted < 7*time.Second || lasted > 8*time.Second {
			t.Errorf("cut off after %v, want 7s", lasted)
		}
	})
}

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quiet()
		cfg.IdleTimeout = time.Minute
		_, l, client := inMemory(t, SchedulerService(answering(), dims), cfg)
		if waited := hangsUp(t, dialMemory(t, l)); waited != 10*time.Second {
			t.Errorf("hung up on one that said nothing after %v, want 10s", waited)
		}
		conn := dialMemory(t, l)
		askFirst(t, conn)
		if waited := hangsUp(t, conn); waited != time.Minute {
			t.Errorf("hung up after %v, want 1m", waited)
		}
		// A client whose idle connection was closed does not notice.
		c := schedulerClient(t, "", client)
		answers(t, c)
		<-time.After(2 * time.Minute)
		answers(t, c)
	})
}

// TestBadBytes: what is no message closes its connection and nothing else.
func TestBadBytes(t *testing.T) {
	whole := cancelRequest(t, "t")
	wrongType := append([]byte(nil), whole...)
	wrongType[5] = 2<<5 | 1 // a reply
	truncated := append([]byte(nil), whole[:len(whole)-4]...)
	binary.BigEndian.PutUint32(truncated, uint32(len(truncated)-4))
	longer := append(append([]byte(nil), whole...), whole[4:]...)
	binary.BigEndian.PutUint32(longer, uint32(len(longer)-4))
	for name, bytes := range map[string][]byte{
		"garbage in a frame":     frame(8, "garbage!"),
		"an HTTP request":        []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		"a frame of 2 GiB":       frame(1<<31, ""),
		"a frame over the limit": frame(32<<20+1, ""),
		"a name of 1 GB":         frame(8, "\x82\x21\x01\xff\xff\xff\xff\x03"),
		"a reply":                wrongType,
		"a truncated message":    truncated,
		"two in one frame":       longer,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counters := &Counters{}
				cfg := quiet()
				cfg.Observer = counters
				_, l, client := inMemory(t, SchedulerService(answering(), dims), cfg)
				conn := dialMemory(t, l)
				go conn.Write(bytes)
				start := time.Now()
				io.Copy(io.Discard, conn) // perhaps an application exception, then the end
				if waited := time.Since(start); waited != 0 {
					t.Errorf("hung up after %v", waited)
				}
				answers(t, schedulerClient(t, "", client))
				if n := counters.Events(BadMessage); n != 1 {
					t.Errorf("%d bad messages, want 1", n)
				}
			})
		})
	}
}
