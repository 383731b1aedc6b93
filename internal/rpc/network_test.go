package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dodoor/internal/rpc/rpctest"
)

// onNetwork serves at addr, on n.
func onNetwork(t *testing.T, n *rpctest.Network, addr string, service Service) *Server {
	t.Helper()
	cfg := quiet()
	cfg.Listen = n.Listen
	s, err := Listen(addr, service, cfg)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

// TestAnotherNetwork: servers listen, and clients dial, where the configuration says.
func TestAnotherNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := rpctest.NewNetwork()
		one, two := answering(), answering()
		two.counters = func(context.Context) (map[string]int64, error) { return map[string]int64{"two": 2}, nil }
		s := onNetwork(t, n, "one:1", SchedulerService(one, dims))
		onNetwork(t, n, "two:1", SchedulerService(two, dims))
		if s.Addr() != "one:1" {
			t.Errorf("bound to %q", s.Addr())
		}
		_, err := Listen("two:1", SchedulerService(two, dims), Config{Listen: n.Listen})
		if err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second listener: %v", err)
		}
		cfg := quiet()
		cfg.Dial = n.From("client")
		counts, err := schedulerClient(t, "two:1", cfg).Counters(background)
		if err != nil || counts["two"] != 2 {
			t.Errorf("counters of two: %v, %v", counts, err)
		}
		if err := schedulerClient(t, "three:1", cfg).Settle(background); !Refused(err) {
			t.Errorf("nobody listens: %v", err)
		}
	})
}

// TestAddressIsFreeAgain: a closed listener leaves its address to the next.
func TestAddressIsFreeAgain(t *testing.T) {
	n := rpctest.NewNetwork()
	first, err := Config{Listen: n.Listen}.Bind("one:1")
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if _, err := (Config{Listen: n.Listen}).Bind("one:1"); err != nil {
		t.Error(err)
	}
}

// TestDefaultIsTCP: without a hook, an address is one of the machine's.
func TestDefaultIsTCP(t *testing.T) {
	l, err := Config{}.Bind("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().Network() != "tcp" {
		t.Errorf("bound to %v", l.Addr())
	}
}

// TestMessagesPass: every request and every reply of any size passes the network's hook, with its name;
// a peer that hangs up is noticed through it.
func TestMessagesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []rpctest.Message
		n := rpctest.NewNetwork()
		n.Pass = func(m rpctest.Message) bool {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, m)
			return true
		}
		h := answering()
		large := map[string]int64{}
		for i := range 10_000 {
			large[fmt.Sprint("counter-", i)] = 1
		}
		h.counters = func(context.Context) (map[string]int64, error) { return large, nil }
		s := onNetwork(t, n, "one:1", SchedulerService(h, dims))
		cfg := quiet()
		cfg.Dial = n.From("client")
		c := NewSchedulerClient("one:1", dims, cfg)
		if counts, err := c.Counters(background); err != nil || len(counts) != len(large) {
			t.Fatalf("%d counters, %v", len(counts), err)
		}
		if err := c.Settle(background); err != nil {
			t.Fatal(err)
		}
		want := []rpctest.Message{{From: "client", To: "one:1", Method: "counters"},
			{From: "client", To: "one:1", Method: "counters", Reply: true},
			{From: "client", To: "one:1", Method: "settle"}, {From: "client", To: "one:1", Method: "settle", Reply: true}}
		if !slices.Equal(seen, want) {
			t.Errorf("%v passed, want %v", seen, want)
		}
		s.Close()
		synctest.Wait()
		if err := c.Settle(background); !errors.Is(err, ErrUnavailable) {
			t.Errorf("after the server's end: %v", err)
		}
		c.Close()
		n.Wait()
	})
}
