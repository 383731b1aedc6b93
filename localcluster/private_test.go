package localcluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"dodoor/conf"
)

// What one end writes the other reads, and an address is somebody's until its listener is closed.
func TestPrivateNetwork(t *testing.T) {
	n := NewPrivate()
	if _, err := n.From("me")(t.Context(), "a:1"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	l, err := n.Listen("a:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Listen("a:1"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("twice: %v", err)
	}
	accepted := make(chan net.Conn)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	near, err := n.From("me")(t.Context(), "a:1")
	if err != nil {
		t.Fatal(err)
	}
	far := <-accepted
	if _, err := near.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	near.Close()
	if text, err := io.ReadAll(far); string(text) != "hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	far.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.From("me")(ctx, "a:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody accepts: %v", err)
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := n.Listen("a:1"); err != nil {
		t.Errorf("again: %v", err)
	}
}

// A cluster of one's own is valid, runs any command, and cannot be reached: it has no socket with a name.
func TestOwnClusterIsPrivate(t *testing.T) {
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	c := Own{Slots: 16, Folder: t.TempDir()}.Config(machine)
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/own.toml"
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := conf.Load(file, nil); err != nil {
		t.Errorf("its configuration is not valid: %v", err)
	}
	before := named(t)
	l, err := StartOwn(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	if now := named(t); now != before {
		t.Errorf("%d sockets have names, and there were %d", now, before)
	}
	nodes, err := l.Nodes(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].Node.Slots != 16 {
		t.Errorf("%+v, %v", nodes, err)
	}
}

// named counts the sockets of this process that somebody could connect to.
func named(t *testing.T) (n int) {
	t.Helper()
	own := map[string]bool{}
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if target, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil && strings.HasPrefix(target, "socket:[") {
			own[strings.Trim(target, "socket:[]")] = true
		}
	}
	for file, inode := range map[string]int{"tcp": 9, "tcp6": 9, "unix": 6} {
		text, err := os.ReadFile("/proc/self/net/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) > inode && own[fields[inode]] && (file != "unix" || len(fields) > inode+1) {
				n++
			}
		}
	}
	return n
}
