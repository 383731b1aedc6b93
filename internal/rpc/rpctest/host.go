package rpctest

import (
	"context"
	"io"
	"net"
	"sync"
)

// Host is where one process runs: what it listens at and whom it dials. Its Listen and Dial fit rpc.Config.
type Host struct {
	network *Network
	name    string

	mu     sync.Mutex
	killed bool
	lists  []io.Closer // listeners
	taken  []io.Closer // connections that others made
	made   []io.Closer // connections to others
}

// Host returns a machine on the network for the process called name.
func (n *Network) Host(name string) *Host { return &Host{network: n, name: name} }

// Listen takes an address, as Network.Listen does.
func (h *Host) Listen(addr string) (net.Listener, error) {
	l, err := h.network.Listen(addr)
	if err != nil {
		return nil, err
	}
	h.keep(&h.lists, l)
	return hosted{l, h}, nil
}

// hosted is a listener that remembers what it has accepted.
type hosted struct {
	net.Listener
	host *Host
}

func (l hosted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.host.keep(&l.host.taken, conn)
	}
	return conn, err
}

// Dial connects to an address. Whom a killed host dials does not hear of it.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if h.isKilled() {
		return nil, refused(addr)
	}
	conn, err := h.network.From(h.name)(ctx, addr)
	if err == nil {
		h.keep(&h.made, conn)
	}
	return conn, err
}

// keep remembers what a killed host leaves behind.
func (h *Host) keep(list *[]io.Closer, c io.Closer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*list = append(*list, c)
	if h.killed {
		c.Close()
	}
}

func (h *Host) isKilled() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.killed
}

// Cut breaks the connections that others have made to the host.
func (h *Host) Cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	hangUp(&h.taken)
}

// Kill ends the host as if somebody had pulled its plug: nobody listens there any more, and its
// connections break. The process need not know: whatever it still does, nobody hears of it.
func (h *Host) Kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.killed = true
	hangUp(&h.lists)
	hangUp(&h.taken)
	hangUp(&h.made)
}

func hangUp(list *[]io.Closer) {
	for _, c := range *list {
		c.Close()
	}
	*list = nil
}
