package experiment

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/localcluster"
	"dodoor/report/metrics"
)

var secureTasks = flag.Int("secure", 0, "tasks of each run that compares mutual TLS with plaintext; 0: none")

// How the figures are taken.
const (
	secureRounds = 5
	flood        = 1000.0 // times the load of the demo: as much as the machine can do
	half         = 10.0   // 600 tasks a second
)

// TestCostOfIdentities prints what mutual TLS costs, for `make secure`, on the paper's 100 workers and five schedulers in one process:
// throughput, the delay of scheduling, and how soon all are back after a restart. Plaintext and TLS take turns.
func TestCostOfIdentities(t *testing.T) {
	if *secureTasks <= 0 {
		t.Skip("figures are taken by make secure, on an idle machine")
	}
	folder := bundles(t, configOf(t, "local"))
	fmt.Printf("%s/%s, %d cores, %s; %d tasks a run, of which a quarter make connections, %d rounds, medians (all)\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), *secureTasks, secureRounds)
	fmt.Println("| | plaintext | mutual TLS | |\n|---|---|---|---|")
	load := func(scale float64) func(string) *metrics.Summary {
		return func(folder string) *metrics.Summary {
			c := configOf(t, "local", fmt.Sprintf("generator.n=%d", *secureTasks), fmt.Sprintf("generator.warmup=%d", *secureTasks/4),
				"generator.qps=60", fmt.Sprintf("generator.time_scale=%g", scale), fmt.Sprintf("security.folder=%q", folder))
			r, err := Run(t.Context(), setting(t, c, OnLocal))
			if err != nil {
				t.Fatal(err)
			}
			if r.Summary.Completed != r.Summary.Tasks {
				t.Errorf("%d of %d tasks finished", r.Summary.Completed, r.Summary.Tasks)
			}
			return r.Summary
		}
	}
	plain, tls := turns(folder, load(flood))
	perSecond := func(s *metrics.Summary) float64 { return s.ThroughputPerS * s.SpanS / s.WallS } // of the wall's
	compare("tasks a second, as many as it can do", "%.0f", plain, tls, perSecond,
		func(plain, tls float64) string { return fmt.Sprintf("%.0f %%, goal 85 %%", 100*tls/plain) })
	plain, tls = turns(folder, load(half))
	more := func(goal string) func(plain, tls float64) string {
		return func(plain, tls float64) string { return fmt.Sprintf("%+.2f%s", tls-plain, goal) }
	}
	compare("P50 of scheduling at 600 tasks a second, ms", "%.2f", plain, tls, func(s *metrics.Summary) float64 { return s.SchedulingMs.P50 },
		more(""))
	compare("P99", "%.2f", plain, tls, func(s *metrics.Summary) float64 { return s.SchedulingMs.P99 }, more(", goal at most +1"))
	for _, what := range []string{conf.RoleDatastore, conf.RoleScheduler} {
		plain, tls := turns(folder, func(folder string) time.Duration { return restarted(t, folder, what) })
		compare("all 100 workers placed on again after a restart of the "+what+", s", "%.2f", plain, tls, time.Duration.Seconds,
			more(", goal 2 s"))
	}
}

// turns measures without and with bundles, by turns.
func turns[T any](folder string, measure func(folder string) T) (plain, tls []T) {
	for range secureRounds {
		plain = append(plain, measure(""))
		tls = append(tls, measure(folder))
	}
	return plain, tls
}

// compare prints a figure of both, and what to say about their medians.
func compare[T any](what, format string, plain, tls []T, figure func(T) float64, verdict func(plain, tls float64) string) {
	listed := func(of []T) (median float64, text string) {
		var all []float64
		for _, x := range of {
			all = append(all, figure(x))
			text += " " + fmt.Sprintf(format, figure(x))
		}
		median = slices.Sorted(slices.Values(all))[len(all)/2]
		return median, fmt.Sprintf(format, median) + " (" + text[1:] + ")"
	}
	p, plainText := listed(plain)
	q, tlsText := listed(tls)
	fmt.Printf("| %s | %s | %s | %s |\n", what, plainText, tlsText, verdict(p, q))
}

// bundles makes those of all services of a configuration, and of an operator.
func bundles(t *testing.T, c *conf.Config) (folder string) {
	t.Helper()
	folder = t.TempDir()
	ca, err := authority.Create(filepath.Join(t.TempDir(), "ca"), c.Security.Domain, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(role identity.Role, name string) error {
		return ca.Issue(identity.Identity{Role: role, Name: name}, identity.Folder(folder, name), time.Hour)
	}
	if err = issue(identity.DataService, conf.RoleDatastore); err == nil {
		err = issue(identity.Operator, c.Security.User)
	}
	for i := range c.Scheduler.Replicas {
		if err == nil {
			err = issue(identity.Scheduler, cluster.SchedulerName(i))
		}
	}
	if err == nil {
		err = assemble.EachLocalWorker(*c, func(own *conf.Config) error { return issue(identity.Worker, own.Worker.Name) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// runs is a service in this process.
type runs interface {
	Addr() string
	Run(ctx context.Context) error
}

// started runs a service until it is told to stop, which it then has.
func started(t *testing.T, s runs, err error) (addr string, stop func()) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return s.Addr(), stop
}

// restarted is how long it takes until a service that was stopped, and started again at its address, has all workers.
func restarted(t *testing.T, folder, what string) (took time.Duration) {
	t.Run("restart", func(t *testing.T) {
		c := configOf(t, "local", fmt.Sprintf("security.folder=%q", folder), "scheduler.replicas=1", "scheduler.drain_timeout=1s",
			"worker.drain_timeout=1s", "datastore.listen=127.0.0.1:0", "scheduler.listen=127.0.0.1:0", "worker.listen=127.0.0.1:0")
		site := func(service, name string) assemble.Site {
			return assemble.Site{Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry(service, name)}
		}
		c.Scheduler.Name = cluster.SchedulerName(0)
		data := func() (addr string, stop func()) {
			s, err := assemble.Datastore(c, site(conf.RoleDatastore, conf.RoleDatastore))
			return started(t, s, err)
		}
		scheduler := func() (addr string, stop func()) {
			s, err := assemble.Scheduler(c, site(conf.RoleScheduler, c.Scheduler.Name))
			return started(t, s, err)
		}
		addr, stopData := data()
		c.Datastore.Listen, c.Datastore.Address = addr, addr
		addr, stopScheduler := scheduler()
		c.Scheduler.Listen = addr
		workers := 0
		err := assemble.EachLocalWorker(*c, func(own *conf.Config) error {
			s, err := assemble.Worker(own, site(conf.RoleWorker, own.Worker.Name))
			started(t, s, err)
			workers++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := localcluster.GeneratorRPC(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		dims, err := c.Dimensions()
		if err != nil {
			t.Fatal(err)
		}
		d := rpc.NewDataClient(c.Datastore.Address, dims, cfg)
		s := rpc.NewSchedulerClient(c.Scheduler.Listen, dims, cfg.To(c.Scheduler.Name))
		defer d.Close()
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		all := func() {
			t.Helper()
			if err := drive.AwaitWorkers(ctx, []drive.Target{{Name: c.Scheduler.Name, Service: s}}, allOf{d, workers}, workers); err != nil {
				t.Fatal(err)
			}
		}
		all()
		var begin time.Time
		if what == conf.RoleDatastore {
			stopData()
			begin = time.Now()
			data()
		} else {
			stopScheduler()
			begin = time.Now()
			scheduler()
		}
		all()
		took = time.Since(begin)
	})
	return took
}

// allOf is a data service that has settled once it knows so many workers.
type allOf struct {
	*rpc.DataClient
	workers int
}

func (d allOf) Settle(ctx context.Context) error {
	for {
		status, err := d.Status(ctx)
		if err == nil && len(status.Nodes) == d.workers {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d workers are registered: %w", len(status.Nodes), d.workers, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
