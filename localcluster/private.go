package localcluster

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Private is a network that nobody but this process is on: its connections are pairs of sockets without a name. A service
// that runs whatever it is told, as this user, must not be found by others, not even by the user's other programs.
type Private struct {
	mu        sync.Mutex
	listeners map[string]*privateListener
}

// NewPrivate returns a network on which nobody listens.
func NewPrivate() *Private { return &Private{listeners: map[string]*privateListener{}} }

// Listen implements assemble.Network.
func (n *Private) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: privateNet, Addr: privateAddr(addr), Err: syscall.EADDRINUSE}
	}
	l := &privateListener{network: n, addr: privateAddr(addr), conns: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[addr] = l
	return l, nil
}

// From implements assemble.Network.
func (n *Private) From(string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		n.mu.Lock()
		l := n.listeners[addr]
		n.mu.Unlock()
		if l == nil {
			return nil, &net.OpError{Op: "dial", Net: privateNet, Addr: privateAddr(addr), Err: syscall.ECONNREFUSED}
		}
		return l.dial(ctx)
	}
}

// privateListener hands the far ends of pairs to whoever accepts.
type privateListener struct {
	network *Private
	addr    privateAddr
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *privateListener) dial(ctx context.Context) (net.Conn, error) {
	near, far, err := pair()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: privateNet, Addr: l.addr, Err: err}
	}
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		err = syscall.ECONNREFUSED
	case <-ctx.Done():
		err = ctx.Err()
	}
	near.Close()
	far.Close()
	return nil, &net.OpError{Op: "dial", Net: privateNet, Addr: l.addr, Err: err}
}

// Accept implements net.Listener.
func (l *privateListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: privateNet, Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close implements net.Listener.
func (l *privateListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, string(l.addr))
	})
	return nil
}

// Addr implements net.Listener.
func (l *privateListener) Addr() net.Addr { return l.addr }

const privateNet = "private"

type privateAddr string

func (privateAddr) Network() string  { return privateNet }
func (a privateAddr) String() string { return string(a) }

// pair makes two ends of a connection.
func pair() (a, b net.Conn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if a, err = connOf(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	if b, err = connOf(fds[1]); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, b, nil
}

// connOf makes a connection of a descriptor, and closes that.
func connOf(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), privateNet)
	defer file.Close()
	return net.FileConn(file)
}
