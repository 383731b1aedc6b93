package workerd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dodoor/datastore"
	"dodoor/datastore/datastored"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/worker"
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

// running runs a service until the test ends, or until stop is called.
func running(t *testing.T, s interface{ Run(context.Context) error }) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%T ended with %v", s, err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// overTCP is a fake data service and a fake scheduler on loopback, and a worker between them.
func overTCP(t *testing.T, change func(*Config)) (*Daemon, *fakeScheduler, func()) {
	t.Helper()
	data, sched := listenTCP(t), listenTCP(t)
	serve(t, data, rpc.DataServiceService(&fakeData{}, dims))
	s := &fakeScheduler{ref: cluster.SchedulerRef{Name: "s1", Address: sched.Addr().String(), Incarnation: 1}, changed: make(chan struct{})}
	serve(t, sched, rpc.SchedulerService(s, dims))
	cfg := config(tcp())
	cfg.DataService = data.Addr().String()
	change(&cfg)
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, d)
	s.client = rpc.NewWorkerClient(d.Addr(), dims, tcp())
	t.Cleanup(func() { s.client.Close() })
	return d, s, stop
}

// until waits until as many completions have come.
func (s *fakeScheduler) until(t *testing.T, completions int) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		n := 0
		s.mu.Lock()
		for _, notice := range s.notices {
			n += len(notice.Completions)
		}
		changed := s.changed
		s.mu.Unlock()
		if n >= completions {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%d completions, want %d", n, completions)
		}
	}
}

// Ten thousand tasks go through a worker and leave nothing behind.
func TestNothingIsLeftOfManyTasks(t *testing.T) {
	const tasks, perMessage = 10_000, 100
	d, s, stop := overTCP(t, func(c *Config) {
		c.Executors["wait"] = function{run: func(context.Context, worker.Start) worker.Result {
			return worker.Result{Outcome: cluster.Finished}
		}}
	})
	for i := range tasks / perMessage {
		var batch []task
		for j := range perMessage {
			batch = append(batch, task{id: fmt.Sprint(i, "-", j), takes: time.Second})
		}
		s.accept(t, batch...)
	}
	s.until(t, tasks)
	stop()
	seen := map[string]int{}
	for _, n := range s.notices {
		for _, c := range n.Completions {
			seen[c.TaskID]++
			if c.Outcome != cluster.Finished || seen[c.TaskID] > 1 {
				t.Fatalf("%s, told %d times: %+v", c.TaskID, seen[c.TaskID], c)
			}
		}
	}
	if len(seen) != tasks {
		t.Errorf("%d tasks ended, want %d", len(seen), tasks)
	}
	stats := d.stats()
	if stats.Counts.Accepted != tasks || stats.Counts.Outcomes[cluster.Finished] != tasks {
		t.Errorf("counts %+v", stats.Counts)
	}
	if stats.Queued+stats.Running+stats.Unacknowledged != 0 || !stats.Load.IsZero() || stats.Reserved != (cluster.Resources{}) {
		t.Errorf("left behind: %+v", stats)
	}
	if held := d.node.Tasks(cluster.TaskQuery{Max: 10}); len(held)+len(d.kill) > 0 {
		t.Errorf("tasks held: %+v; executions: %d", held, len(d.kill))
	}
}

// The real data service restarts: the worker is a node of the new one too, with the load that it has.
func TestRealDataServiceRestarts(t *testing.T) {
	newData := func(listen string) *datastored.Daemon {
		d, err := datastored.New(datastored.Config{Store: datastore.Config{Batch: 100, NodeTimeout: time.Minute}, Listen: listen,
			Dimensions: dims, RPC: tcp(), Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("datastore", "d")})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := newData("127.0.0.1:0")
	stopFirst := running(t, first)
	d, s, stop := overTCP(t, func(c *Config) {
		c.DataService, c.Heartbeat, c.DrainTimeout = first.Addr(), 10*time.Millisecond, 0
	})
	s.accept(t, task{id: "a", takes: time.Hour})
	knows(t, first, 1)
	stopFirst()
	second := newData(first.Addr())
	running(t, second)
	knows(t, second, 1)
	stop()
	if status, _ := second.Status(t.Context()); len(status.Nodes) != 0 {
		t.Errorf("nodes %+v after the worker %s has left", status.Nodes, d.Addr())
	}
}

// knows waits until a data service has one node with so many tasks.
func knows(t *testing.T, data *datastored.Daemon, tasks int64) {
	t.Helper()
	ticker, timeout := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer ticker.Stop()
	for {
		status, err := data.Status(t.Context())
		if err == nil && len(status.Nodes) == 1 && status.Nodes[0].Load.Tasks == tasks {
			return
		}
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatalf("the data service knows %+v, want one node with %d tasks", status.Nodes, tasks)
		}
	}
}

func TestMetrics(t *testing.T) {
	var metrics *telemetry.Registry
	_, s, _ := overTCP(t, func(c *Config) { metrics, c.DrainTimeout = c.Metrics, 0 })
	s.accept(t, task{id: "a", takes: time.Hour, cores: 3}, task{id: "b", takes: time.Hour, cores: 3})
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(metrics); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "dodoor_worker_")
			for _, l := range m.GetLabel() {
				if l.GetName() != "service" && l.GetName() != "name" {
					name += " " + l.GetValue()
				}
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{"queued_tasks": 1, "running_tasks": 1, "utilisation_ratio cores": 0.75, "capacity cores": 4000,
		"events_total accepted": 2, "events_total refused": 0, "events_total finished": 0, "rpcs_total in enqueue": 1} {
		if value, known := got[name]; !known || value != want {
			t.Errorf("%s: %v (%v), want %v", name, value, known, want)
		}
	}
	if blocked, known := got["blocked_seconds_total"]; !known || blocked <= 0 {
		t.Errorf("blocked for %v (%v): the second task waits", blocked, known)
	}
}
