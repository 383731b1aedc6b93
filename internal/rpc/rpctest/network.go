package rpctest

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// Network is addresses in memory: many services, each on its own, inside one testing/synctest bubble.
// Its Listen and what From returns fit rpc.Config.
type Network struct {
	// Pass, if it is set, is told of every message before that is delivered, and may hold it up. When it
	// is false the message is lost, and its connection breaks: first its sender learns of that, which is
	// told as a reply. Pass must be set before anybody dials.
	Pass func(Message) bool
	// Refuses, if it is set, says that nobody may connect to an address, although somebody listens there.
	Refuses func(addr string) bool
	// RefusesLate, if it is set, says that somebody is told of a refused connection only when a message is to
	// travel on it: then Pass can tell what the message is about.
	RefusesLate func(from, to string) bool

	mu        sync.Mutex
	listeners map[string]*Listener
	relays    sync.WaitGroup
}

// Message is one request or reply on its way.
type Message struct {
	From, To string // From is who dialled: also that of a reply
	Method   string // by its name in the IDL
	Task     string // the id of the one that a submission, a probe or a cancellation is about; of several, the first
	Reply    bool
	Refused  bool // there is no connection; without RefusesLate, nor is there a method
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
		l := n.listener(addr)
		if l == nil {
			return n.refuse(name, addr)
		}
		far, err := l.Dial(ctx, addr)
		if err != nil || n.Pass == nil {
			return far, err
		}
		client, near := net.Pipe()
		underWay := make(chan struct{}, 1) // a token for the request
		n.relays.Go(func() { n.relay(near, far, underWay, Message{From: name, To: addr}) })
		n.relays.Go(func() { n.relay(far, near, underWay, Message{From: name, To: addr, Reply: true}) })
		return client, nil
	}
}

// listener returns who takes connections at an address.
func (n *Network) listener(addr string) *Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.listeners[addr]; l != nil && !l.isClosed() && (n.Refuses == nil || !n.Refuses(addr)) {
		return l
	}
	return nil
}

// Wait returns when every connection is closed.
func (n *Network) Wait() { n.relays.Wait() }

// relay carries messages in one direction. When either end hangs up, so does the other: a client learns of it
// when the request arrives that it has under way.
func (n *Network) relay(from, to net.Conn, underWay chan struct{}, m Message) {
	defer from.Close()
	for {
		frame, err := readFrame(from)
		if err == nil {
			err = m.read(frame)
		}
		if !m.Reply {
			underWay <- struct{}{}
			if err == nil {
				err = n.deliver(frame, to, m)
			}
			<-underWay
		} else if err == nil {
			err = n.deliver(frame, to, m)
		}
		if err != nil {
			if m.Reply {
				underWay <- struct{}{}
				defer func() { <-underWay }()
			}
			to.Close()
			return
		}
	}
}

// errLost: Pass wanted it so.
var errLost = errors.New("rpctest: a message was lost")

func (n *Network) deliver(frame []byte, to net.Conn, m Message) error {
	if n.Pass(m) {
		_, err := to.Write(frame)
		return err
	}
	if !m.Reply {
		m.Reply = true
		n.Pass(m)
	}
	return errLost
}
