// Package workerd runs one worker as a service: it takes a lock, lets the pure node act, releases the
// lock, and starts, stops and reports executions.
package workerd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/spool"
)

// Config holds a worker service's settings.
type Config struct {
	Node         worker.Config // Node.Address and Node.Incarnation are set by New
	Executors    map[string]executor.Executor
	Spool        *spool.Spool // what commands printed; nil: nothing is kept. The worker closes it
	Listen       string
	Address      string // what others dial; empty: the bound address
	DataService  string // address
	RPC          rpc.Config
	MaxBatch     int             // completions per notice; 1: no coalescing
	Heartbeat    time.Duration   // a report at least this often
	DrainTimeout time.Duration   // for running tasks at shutdown
	Lost         <-chan struct{} // closed when nobody sees to it any more that no task outlives this process; nil: nobody does
	Setup        cluster.Setup   // what it says that it runs
	Log          *slog.Logger
	Metrics      *telemetry.Registry
}

// Daemon is a running worker. It implements rpc.Worker.
type Daemon struct {
	cfg      Config
	self     cluster.Node
	server   *rpc.Server
	counters *rpc.Counters
	data     dataLink
	log      *slog.Logger
	start    time.Time
	running  context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup // executions and deliveries of notices

	mu        sync.Mutex // guards what follows; never held across an RPC or a process start
	node      *worker.Node
	kill      map[string]context.CancelFunc // executions by task id
	notifiers map[string]*notifier          // by scheduler
	leaving   bool                          // refuses tasks for good: Drain cannot take it back
	drained   bool                          // refuses them until an operator takes it back
	away      bool                          // refuses them until its executors are back
	asking    bool                          // somebody waits for that

	idle chan struct{} // closed when the worker is leaving and nothing runs
}

// New validates the configuration and binds the address.
func New(cfg Config) (*Daemon, error) {
	listener, err := cfg.RPC.Bind(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", cfg.Node.Node.Name, err)
	}
	d, err := newOn(listener, cfg)
	if err != nil {
		listener.Close()
	}
	return d, err
}

// newOn returns a worker on a listener, which it owns unless it fails.
func newOn(listener net.Listener, cfg Config) (*Daemon, error) {
	start := time.Now()
	self := cfg.Node.Node
	var err error
	if self.Incarnation, err = cfg.Spool.Incarnation(start.UnixNano()); err != nil {
		return nil, err
	}
	cfg.Node.Node, cfg.Node.Judge = self, cfg.judge
	node, err := worker.New(cfg.Node)
	if err != nil {
		return nil, err
	}
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("worker %s: %w", self.Name, err)
	}
	if self.Address, err = rpc.Advertised(cfg.Address, listener.Addr().String()); err != nil {
		return nil, fmt.Errorf("worker %s: %w", self.Name, err)
	}
	d := &Daemon{cfg: cfg, self: self, start: start, node: node, counters: &rpc.Counters{}, log: cfg.Log.With("worker", self.Name),
		kill: map[string]context.CancelFunc{}, notifiers: map[string]*notifier{}, idle: make(chan struct{})}
	d.cfg.RPC.Observer, d.cfg.RPC.Log = d.counters, d.log
	d.running, d.stop = context.WithCancel(context.Background())
	d.server = rpc.NewServer(listener, rpc.WorkerService(d, cfg.Node.Dimensions), d.cfg.RPC)
	d.data.init(d)
	d.measure(cfg.Metrics)
	return d, nil
}

func (c *Config) validate() error {
	if c.MaxBatch < 1 {
		return fmt.Errorf("%d completions per notice: at least 1 is needed", c.MaxBatch)
	}
	if c.Heartbeat <= 0 {
		return fmt.Errorf("heartbeat every %v: it must be positive", c.Heartbeat)
	}
	return nil
}

// Addr returns the bound address, host:port.
func (d *Daemon) Addr() string { return d.server.Addr() }

// Ready reports whether the worker takes tasks and can run them: schedulers know it and get connections, it is not draining, and its
// executors have what they need.
func (d *Daemon) Ready() error { return errors.Join(d.takes(), d.executorsReady(), d.server.Ready()) }

// Run serves until ctx ends, then drains: waiting tasks are given back to their schedulers, running ones
// get DrainTimeout. It returns the first error that made serving impossible; then they get no time.
func (d *Daemon) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.running) }()
	fatal := make(chan error, 1)
	d.data.start(fatal)
	var background sync.WaitGroup
	background.Go(func() { d.tick(d.running) })
	var err error
	select {
	case err = <-served:
		served <- nil
		d.drain(0)
	case err = <-fatal:
		d.drain(0)
	case <-d.cfg.Lost:
		err = errLost
		d.drain(0)
	case <-ctx.Done():
		d.drain(d.cfg.DrainTimeout)
	}
	d.data.leave()
	d.stop()
	err = errors.Join(err, <-served)
	background.Wait()
	d.work.Wait()
	d.hangUpNotifiers()
	if err := CloseExecutors(d.cfg.Executors); err != nil {
		d.log.Warn("ends all the same", "error", err)
	}
	if err := d.cfg.Spool.Close(); err != nil {
		d.log.Warn("ends all the same", "error", err)
	}
	d.data.close()
	return err
}

var errLost = errors.New("the keeper of this process is gone: start the worker again")

// now is the time since the service started: the only clock the node knows.
func (d *Daemon) now() time.Duration { return time.Since(d.start) }

const tickEvery = time.Second

func (d *Daemon) tick(ctx context.Context) {
	poll.Every(ctx, tickEvery, func() {
		d.mu.Lock()
		dropped := d.node.Expire(d.now())
		d.mu.Unlock()
		if dropped > 0 {
			d.log.Warn("results expired that no scheduler took", "results", dropped)
		}
		d.retireNotifiers()
	})
}

// drain gives waiting tasks back, waits for the running ones, gives those back that take longer than the
// limit, and says so. Schedulers hear of it before the worker leaves.
func (d *Daemon) drain(limit time.Duration) {
	queued := d.giveBackQueue()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	started := 0
	select {
	case <-d.idle:
	case <-timeout.C:
		var actions worker.Actions
		d.mu.Lock()
		actions, started = d.node.Abandon(d.now(), "worker "+d.self.Name+" shut down before the task ended")
		d.perform(actions)
		d.mu.Unlock()
	}
	d.flushNotices()
	if queued+started > 0 {
		d.log.Warn("gave tasks back to their schedulers", "waiting", queued, "running", started, "drain_timeout", limit)
	} else {
		d.log.Info("drained")
	}
}

// giveBackQueue makes the worker refuse tasks for good, gives the waiting ones back and returns how many
// there were.
func (d *Daemon) giveBackQueue() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	actions, queued := d.node.AbandonQueued(d.now(), "worker "+d.self.Name+" is shutting down")
	d.perform(actions)
	d.leaving = true
	d.noteIdle()
	return queued
}

// perform starts what the node wants done. The caller holds the lock; nothing here blocks.
func (d *Daemon) perform(actions worker.Actions) {
	for _, s := range actions.Start {
		d.execute(s)
	}
	for _, id := range actions.Kill {
		if kill := d.kill[id]; kill != nil {
			kill()
		}
	}
	for _, scheduler := range actions.Notify {
		d.notify(scheduler)
	}
	if actions.Report {
		d.data.reportSoon()
	}
	d.data.watch()
}
