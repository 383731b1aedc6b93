package datastored

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
)

// These tests use real connections on loopback.

func tcp() rpc.Config { return rpc.Config{Log: slog.New(slog.DiscardHandler)} }

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// overTCP runs a data service: on loopback, unless its configuration says otherwise.
func overTCP(t *testing.T, cfg Config) *Daemon {
	t.Helper()
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the data service ended with %v", err)
		}
	})
	return d
}

// Five schedulers flush at the same time. Every batch boundary is one push to each of them, sent or
// skipped, and in the end everybody has the same, exact state.
func TestManySchedulersAtOnce(t *testing.T) {
	const schedulers, flushes, each = 5, 200, 4 // 4,000 decisions, 400 batches
	d := overTCP(t, config(tcp()))
	client := rpc.NewDataClient(d.Addr(), dims, tcp())
	defer client.Close()
	workers := []string{"w1", "w2", "w3", "w4"}
	for _, name := range workers {
		n := cluster.Node{Name: name, Address: name + ":1", Class: "any", Slots: 8, Incarnation: 1, Capacity: cluster.Resources{8000}}
		if _, err := client.RegisterNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	d.mu.Lock()
	d.store.Settle(d.now()) // the new nodes alone are no reason to push
	d.mu.Unlock()

	var all []*fakeScheduler
	for i := range schedulers {
		l := listenTCP(t)
		s := &fakeScheduler{ref: cluster.SchedulerRef{Name: fmt.Sprint("s", i), Address: l.Addr().String(), Incarnation: 1}, data: client,
			placed: map[string]cluster.Placed{}}
		s.serve(t, l)
		s.register(t)
		all = append(all, s)
	}
	var work sync.WaitGroup
	errs := make([]error, schedulers)
	for i, s := range all {
		work.Go(func() {
			for j := range flushes {
				s.place(each, workers[(i+j)%len(workers)])
				_, err := client.Flush(context.Background(), s.sum)
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	work.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := client.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent, newest := 0, all[0].pushed[len(all[0].pushed)-1].Version
	for _, s := range all {
		sent += len(s.pushed)
		if last := s.pushed[len(s.pushed)-1]; last.Decisions != schedulers*flushes*each || last.Version != newest {
			t.Errorf("%s has version %d of %d decisions, want %d of 4000", s.ref.Name, last.Version, last.Decisions, newest)
		}
		total := map[string]int64{}
		for _, p := range s.pushed {
			for j, at := range p.Node {
				total[workers[at]] = p.Load[j].Tasks
			}
		}
		for _, w := range workers {
			if total[w] != schedulers*flushes*each/4 {
				t.Errorf("%s sees %d tasks on %s, want 1000", s.ref.Name, total[w], w)
			}
		}
	}
	counts, err := client.Counters(t.Context())
	const batches = schedulers * flushes * each / 10
	if want := int64(schedulers * (batches + 1)); err != nil || counts["skipped_pushes"]+int64(sent) != want ||
		counts["out.push"] != int64(sent) {
		t.Errorf("%d pushes sent (%d counted) and %d skipped, %v; want %d together", sent, counts["out.push"], counts["skipped_pushes"], err,
			want)
	}
}

func TestBadConfiguration(t *testing.T) {
	busy := listenTCP(t)
	defer busy.Close()
	for what, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"port in use":     {func(c *Config) { c.Listen = busy.Addr().String() }, "address already in use"},
		"no port":         {func(c *Config) { c.Listen = "127.0.0.1" }, "missing port"},
		"b = 0":           {func(c *Config) { c.Store.Batch = 0 }, "b = 0: must be at least 1"},
		"no node timeout": {func(c *Config) { c.Store.NodeTimeout = 0 }, "node_timeout = 0s: must be positive"},
	} {
		t.Run(what, func(t *testing.T) {
			cfg := config(tcp())
			test.change(&cfg)
			d, err := New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "data service: ") {
				t.Fatalf("error %v, want one of the data service that says %q", err, test.want)
			}
			if d != nil {
				t.Error("a data service came with the error")
			}
		})
	}
}

// A configuration that is refused leaves no port bound.
func TestRefusedConfigurationFreesThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.7.4:0") // an address that no other test uses
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cfg := config(tcp())
	cfg.Listen, cfg.Store.Batch = l.Addr().String(), 0
	if _, err := New(cfg); err == nil {
		t.Fatal("accepted")
	}
	again, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A data service listens where its configuration says, in memory for one.
func TestListensElsewhere(t *testing.T) {
	cfg, n := config(tcp()), rpctest.NewNetwork()
	cfg.Listen, cfg.RPC.Listen = "data:1", n.Listen
	d := overTCP(t, cfg)
	client := rpc.NewDataClient(d.Addr(), dims, rpc.Config{Dial: n.From("client")})
	defer client.Close()
	if _, err := client.Status(t.Context()); err != nil || d.Addr() != "data:1" {
		t.Errorf("bound to %s: %v", d.Addr(), err)
	}
}

func TestMetrics(t *testing.T) {
	cfg := config(tcp())
	d := overTCP(t, cfg)
	client := rpc.NewDataClient(d.Addr(), dims, tcp())
	defer client.Close()
	n := cluster.Node{Name: "w1", Address: "w1:1", Class: "any", Slots: 8, Incarnation: 1, Capacity: cluster.Resources{8000}}
	if _, err := client.RegisterNode(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(cfg.Metrics); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "dodoor_datastore_")
			for _, l := range m.GetLabel() {
				if l.GetName() != "service" && l.GetName() != "name" {
					name += " " + l.GetValue()
				}
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{"nodes": 1, "schedulers": 0, "skipped_pushes": 0, "decisions_total": 0,
		"rpcs_total in register_node": 1} {
		if value, known := got[name]; !known || value != want {
			t.Errorf("%s: %v (%v), want %v", name, value, known, want)
		}
	}
}
