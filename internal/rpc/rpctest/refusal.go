package rpctest

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// refused is the error of a connection that nobody accepts, as the operating system has it.
func refused(addr string) error {
	return &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr(addr), Err: syscall.ECONNREFUSED}
}

// refuse refuses a connection: at once, or when a message is to travel on it.
func (n *Network) refuse(from, to string) (net.Conn, error) {
	m := Message{From: from, To: to, Refused: true}
	if n.RefusesLate == nil || !n.RefusesLate(from, to) {
		n.bounce(m)
		return nil, refused(to)
	}
	client, near := net.Pipe()
	n.relays.Go(func() {
		defer near.Close()
		frame, err := readFrame(near)
		if err == nil && m.read(frame) == nil {
			n.bounce(m)
		}
	})
	return refusal{client, to}, nil
}

// bounce lets a message pass that finds nobody, and the news of that.
func (n *Network) bounce(m Message) {
	if n.Pass != nil {
		n.Pass(m)
		m.Reply = true
		n.Pass(m)
	}
}

// refusal is the end of a connection that is not there.
type refusal struct {
	net.Conn
	addr string
}

func (r refusal) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	if errors.Is(err, io.EOF) {
		err = refused(r.addr)
	}
	return n, err
}
