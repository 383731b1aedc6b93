package rpctest

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestAKilledHost: its connections break, nobody listens there any more, and whom it dials does not hear of it; its
// address is free for the next.
func TestAKilledHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNetwork()
		first, other := n.Host("first"), n.Host("other")
		l, err := first.Listen("first:1")
		if err != nil {
			t.Fatal(err)
		}
		go l.Accept()
		conn, err := other.Dial(t.Context(), "first:1")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		first.Kill()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the connection: %v", err)
		}
		for from, h := range map[string]*Host{"to it": other, "from it": first} {
			if _, err := h.Dial(context.Background(), "first:1"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a connection %s: %v", from, err)
			}
		}
		next, err := n.Host("next").Listen("first:1")
		if err != nil {
			t.Fatal(err)
		}
		next.Close()
	})
}
