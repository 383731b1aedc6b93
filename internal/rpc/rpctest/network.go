package rpctest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/apache/thrift/lib/go/thrift"
)

// Network is addresses in memory: many services, each on its own, inside one testing/synctest bubble.
// Its Listen and what From returns fit rpc.Config.
type Network struct {
	// Pass, if it is set, is told of every message before that is delivered, and may hold it up. It
	// must be set before anybody dials.
	Pass func(Message)

	mu        sync.Mutex
	listeners map[string]*Listener
	relays    sync.WaitGroup
}

// Message is one request or reply on its way.
type Message struct {
	From, To string // From is who dialled: also that of a reply
	Method   string // by its name in the IDL
	Reply    bool
}

// NewNetwork returns a network on which nobody listens.
func NewNetwork() *Network { return &Network{listeners: map[string]*Listener{}} }

// Listen takes an address ("host:port") until the listener is closed.
func (n *Network) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.listeners[addr]; l != nil && !l.isClosed() {
		return nil, &net.OpError{Op: "listen", Net: "pipe", Addr: pipeAddr(addr), Err: syscall.EADDRINUSE}
	}
	l := NewListener()
	l.addr = pipeAddr(addr)
	n.listeners[addr] = l
	return l, nil
}

// From returns how the one called name dials.
func (n *Network) From(name string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		n.mu.Lock()
		l := n.listeners[addr]
		n.mu.Unlock()
		if l == nil {
			return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr(addr), Err: syscall.ECONNREFUSED}
		}
		far, err := l.Dial(ctx, addr)
		if err != nil || n.Pass == nil {
			return far, err
		}
		client, near := net.Pipe()
		n.relays.Go(func() { n.relay(near, far, Message{From: name, To: addr}) })
		n.relays.Go(func() { n.relay(far, near, Message{From: name, To: addr, Reply: true}) })
		return client, nil
	}
}

// Wait returns when every connection is closed.
func (n *Network) Wait() { n.relays.Wait() }

// relay carries messages in one direction. When either end hangs up, so does the other.
func (n *Network) relay(from, to net.Conn, m Message) {
	defer from.Close()
	defer to.Close()
	for {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		if m.Method, err = methodOf(frame); err != nil {
			return
		}
		n.Pass(m)
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

const maxFrame = 64 << 20

// readFrame reads one framed message, its length included.
func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxFrame {
		return nil, fmt.Errorf("rpctest: a frame of %d bytes", size)
	}
	frame := append(make([]byte, 0, len(length)+int(size)), length[:]...)
	frame = frame[:cap(frame)]
	_, err := io.ReadFull(from, frame[len(length):])
	return frame, err
}

// methodOf reads the header of a framed message.
func methodOf(frame []byte) (string, error) {
	body := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(frame[4:])}
	method, _, _, err := thrift.NewTCompactProtocolConf(body, nil).ReadMessageBegin(context.Background())
	return method, err
}
