package rpc

import (
	"context"
	"errors"
	"maps"
	"testing"

	"dodoor/internal/cluster"
)

// TestEveryMethodIsCounted: no method of any service goes under "unknown".
func TestEveryMethodIsCounted(t *testing.T) {
	seen := map[Method]bool{}
	for _, s := range []Service{SchedulerService(nil, dims), WorkerService(nil, dims), DataServiceService(nil, dims)} {
		for name, e := range s.endpoints {
			if e.method == MethodUnknown {
				t.Errorf("%s has no Method", name)
			}
			seen[e.method] = true
		}
	}
	for m := MethodSubmit; m < numMethods; m++ {
		if !seen[m] {
			t.Errorf("no service has %s", m)
		}
	}
	if len(byWireName) != len(seen) {
		t.Errorf("%d names for %d methods", len(byWireName), len(seen))
	}
}

// TestCounters: both ends count every request once, by the time its reply is there, and every error.
func TestCounters(t *testing.T) {
	server, client := &Counters{}, &Counters{}
	cfg := quiet()
	cfg.Observer = server
	h := answering()
	h.settle = func(context.Context) error { return cluster.Errorf(cluster.Draining, "later") }
	h.counters = func(context.Context) (map[string]int64, error) { return server.Map(), nil }
	s := overTCP(t, SchedulerService(h, dims), cfg)
	cfg.Observer = client
	c := schedulerClient(t, s.Addr(), cfg)
	answers(t, c)
	answers(t, c)
	if err := c.Settle(background); !errors.Is(err, cluster.Draining) {
		t.Errorf("got %v", err)
	}
	got, err := c.Counters(background)
	want := map[string]int64{"in.cancel": 2, "in.settle": 1, "in.counters": 1, "errors.in.settle": 1,
		"errors.in.settle.draining": 1}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("server counted %v, %v; want %v", got, err, want)
	}
	want = map[string]int64{"out.cancel": 2, "out.settle": 1, "out.counters": 1, "errors.out.settle": 1,
		"errors.out.settle.draining": 1}
	if got := client.Map(); !maps.Equal(got, want) {
		t.Errorf("client counted %v, want %v", got, want)
	}
	if client.Requests(MethodCancel, Out) != 2 || client.Errors(MethodSettle, Out) != 1 {
		t.Error("Requests and Errors differ from Map")
	}
}

// TestCallsThatWereNotSentAreNotCounted: a failed dial is an event, not a message.
func TestCallsThatWereNotSentAreNotCounted(t *testing.T) {
	counters := &Counters{}
	s := overTCP(t, SchedulerService(answering(), dims), quiet())
	s.Close()
	cfg := quiet()
	cfg.Observer = counters
	if err := schedulerClient(t, s.Addr(), cfg).Settle(background); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if got, want := counters.Map(), (map[string]int64{"failed_dials": 1}); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}
