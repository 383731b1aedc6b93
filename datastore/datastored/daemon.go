// Package datastored runs the data service: deltas and reports are applied under one lock, snapshots
// are pushed outside it, and a slow replica is skipped, not waited for.
package datastored

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
)

// Config holds the data service's settings.
type Config struct {
	Store      datastore.Config // Incarnation is set by New
	Listen     string
	Dimensions cluster.Dimensions
	RPC        rpc.Config
	Log        *slog.Logger
	Metrics    *telemetry.Registry
	Setup      cluster.Setup // what it says that it runs
}

// Daemon is a running data service. It implements rpc.DataService.
type Daemon struct {
	cfg      Config
	server   *rpc.Server
	counters *rpc.Counters
	log      *slog.Logger
	start    time.Time
	running  context.Context
	stop     context.CancelFunc

	mu        sync.Mutex // guards what follows; never held across an RPC
	store     *datastore.Store
	receivers map[string]*receiver // by scheduler
	progress  chan struct{}        // closed when a push was answered or given up

	work sync.WaitGroup // pushes and connections
}

// New validates the configuration and binds the address.
func New(cfg Config) (*Daemon, error) {
	listener, err := cfg.RPC.Bind(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("data service: %w", err)
	}
	d, err := newOn(listener, cfg)
	if err != nil {
		listener.Close()
	}
	return d, err
}

// newOn returns a data service on a listener, which it owns unless it fails.
func newOn(listener net.Listener, cfg Config) (*Daemon, error) {
	start := time.Now()
	cfg.Store.Incarnation = start.UnixNano()
	store, err := datastore.New(cfg.Store)
	if err != nil {
		return nil, err
	}
	d := &Daemon{cfg: cfg, store: store, start: start, counters: &rpc.Counters{}, log: cfg.Log.With("service", "datastore"),
		receivers: map[string]*receiver{}, progress: make(chan struct{})}
	d.cfg.RPC.Observer, d.cfg.RPC.Log = d.counters, d.log
	d.running, d.stop = context.WithCancel(context.Background())
	d.server = rpc.NewServer(listener, rpc.DataServiceService(d, cfg.Dimensions), d.cfg.RPC)
	d.measure(cfg.Metrics)
	return d, nil
}

// Addr returns the bound address, host:port.
func (d *Daemon) Addr() string { return d.server.Addr() }

// Ready reports whether the data service answers, and others get connections.
func (d *Daemon) Ready() error { return errors.Join(d.running.Err(), d.server.Ready()) }

// Run serves until ctx ends; it returns the first error that made serving impossible. There is nothing
// to drain: whatever is lost here comes again with the next reports and flushes.
func (d *Daemon) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.running) }()
	ticked := make(chan struct{})
	go func() {
		defer close(ticked)
		d.tick(d.running)
	}()
	var err error
	select {
	case err = <-served:
		served <- nil
	case <-ctx.Done():
	}
	d.stop()
	err = errors.Join(err, <-served)
	<-ticked
	d.work.Wait()
	return err
}

func (d *Daemon) now() time.Duration { return time.Since(d.start) }

func (d *Daemon) tick(ctx context.Context) {
	poll.Every(ctx, datastore.TickEvery, func() {
		d.mu.Lock()
		d.perform(d.store.Tick(d.now()))
		d.mu.Unlock()
	})
}
