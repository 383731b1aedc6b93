// Package schedulerd runs one scheduler replica as a service: it takes a lock, lets the pure replica
// act, releases the lock, and performs what came back over Thrift.
package schedulerd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
)

// Config holds a scheduler service's settings.
type Config struct {
	Replica      scheduler.Config // Incarnation is set by New
	Policy       scheduler.Policy
	Listen       string
	Address      string // what others dial; empty: the bound address
	Journal      string // folder of what survives the process; empty: nothing does
	DataService  string // address
	RPC          rpc.Config
	MaxBatch     int           // placements per enqueue message; 1: no coalescing
	NodeGrace    time.Duration // how long a broken connection to a worker may heal before its tasks go elsewhere
	ProbeTimeout time.Duration
	DrainTimeout time.Duration             // for unfinished tasks at shutdown
	Setup        cluster.Setup             // what it says that it runs
	MayRun       func(policy string) error // whether it may be told to run another policy; nil: no
	Log          *slog.Logger
	Metrics      *telemetry.Registry
}

// Daemon is a running scheduler. It implements rpc.Scheduler.
type Daemon struct {
	cfg      Config
	self     cluster.SchedulerRef
	server   *rpc.Server
	data     dataLink
	record   record
	counters *rpc.Counters
	metrics  *meters
	log      *slog.Logger
	start    time.Time

	mu         sync.Mutex // guards what follows; never held across an RPC
	replica    *scheduler.Replica
	deliveries scheduler.Deliveries
	peers      []*peer // by node index
	news       chan struct{}
	waiting    int // collectors that wait for news

	switches chan Switched // Run ends with the one that comes
	leaving  bool          // it is about to end, or to start anew

	work    sync.WaitGroup // peers, probes and cancels
	running context.Context
	stop    context.CancelFunc
}

// New validates the configuration and binds the address.
func New(cfg Config) (*Daemon, error) {
	d := &Daemon{cfg: cfg, start: time.Now(), counters: &rpc.Counters{}, news: make(chan struct{}),
		switches: make(chan Switched, 1),
		log:      cfg.Log.With("scheduler", cfg.Replica.Name)}
	d.cfg.RPC.Observer = d.counters
	d.cfg.RPC.Log = d.log
	d.metrics = d.newMeters(cfg.Metrics)
	if err := d.record.remember(d); err != nil {
		return nil, err
	}
	d.running, d.stop = context.WithCancel(context.Background())
	if err := d.listen(); err != nil {
		d.stop()
		d.record.close()
		return nil, fmt.Errorf("scheduler %s: %w", cfg.Replica.Name, err)
	}
	d.deliveries = scheduler.Deliveries{Replica: d.replica, Scheduler: d.self, MaxBatch: cfg.MaxBatch, Grace: cfg.NodeGrace}
	d.data.init(d)
	return d, nil
}

// listen binds the address, and says who the scheduler is.
func (d *Daemon) listen() (err error) {
	replica := &d.cfg.Replica
	if d.server, err = rpc.Listen(d.cfg.Listen, rpc.SchedulerService(d, replica.Dimensions), d.cfg.RPC); err != nil {
		return err
	}
	address, err := rpc.Advertised(d.cfg.Address, d.server.Addr())
	if err != nil {
		d.server.Close()
		return err
	}
	d.self = cluster.SchedulerRef{Name: replica.Name, Address: address, Incarnation: replica.Incarnation, Riders: d.replica.Riders(),
		Resumes: replica.Keeps}
	return nil
}

// Addr returns the bound address, host:port.
func (d *Daemon) Addr() string { return d.server.Addr() }

// Ready reports whether the scheduler places tasks: it knows a worker that takes them, its journal takes changes, and others get
// connections. That the data service is away does not keep it from it.
func (d *Daemon) Ready() error {
	if err := errors.Join(d.record.ready(), d.server.Ready()); err != nil {
		return fmt.Errorf("scheduler %s: %w", d.self.Name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.leaving:
		return fmt.Errorf("scheduler %s: draining", d.self.Name)
	case d.replica.Statistics().Candidates > 0:
		return nil
	case !d.data.flusher.IsRegistered():
		return fmt.Errorf("scheduler %s: not registered with the data service at %s yet", d.self.Name, d.cfg.DataService)
	}
	return fmt.Errorf("scheduler %s: no worker takes placements", d.self.Name)
}

// Run serves until ctx ends, then drains: nothing new is accepted, and unfinished tasks get DrainTimeout.
// It returns the first error that made serving impossible, or Switched.
func (d *Daemon) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(d.running) }()
	var background sync.WaitGroup
	fatal := make(chan error, 2) // of whoever may fail once
	recording, recorded := context.WithCancel(context.Background())
	defer recorded()
	var record sync.WaitGroup
	record.Go(func() { d.record.run(recording, fatal) })
	background.Go(func() { d.record.watch(d.running) })
	background.Go(func() { d.data.run(d.running, fatal) })
	background.Go(func() { d.data.flush(d.running) })
	background.Go(func() { d.tick(d.running) })
	background.Go(func() { d.audit(d.running) })
	var err error
	select {
	case err = <-served:
		served <- nil
	case err = <-fatal:
	case s := <-d.switches:
		if err = d.drain(); err == nil {
			err = s
		}
	case <-ctx.Done():
		err = d.drain()
	}
	d.data.leave()
	d.stop()
	err = errors.Join(err, <-served)
	background.Wait()
	d.closePeers()
	d.data.client.Close()
	d.work.Wait()
	recorded() // nothing changes any more
	record.Wait()
	d.record.close()
	select {
	case failed := <-fatal:
		err = errors.Join(err, failed)
	default:
	}
	return err
}

// patience is how long one call to another service may take.
func (d *Daemon) patience() time.Duration {
	if d.cfg.NodeGrace > 0 {
		return d.cfg.NodeGrace
	}
	return d.cfg.RPC.CallTimeout
}

// now is the time since the service started: the only clock the replica knows.
func (d *Daemon) now() time.Duration { return time.Since(d.start) }

func (d *Daemon) tick(ctx context.Context) {
	poll.Every(ctx, scheduler.TickEvery, func() {
		d.mu.Lock()
		d.perform(d.replica.Tick(d.now()))
		d.mu.Unlock()
	})
}

// lastCollect is what clients get at shutdown to collect the last results.
const lastCollect = time.Second

// drain waits for unfinished tasks, then for a moment for uncollected results. What is left the journal hands over to the next process;
// without one, abandoning unfinished tasks is an error.
func (d *Daemon) drain() error {
	d.mu.Lock()
	d.leaving = true
	d.replica.Draining()
	d.perform(d.replica.Settle(d.now()))
	d.mu.Unlock()
	unfinished := d.left(d.cfg.DrainTimeout, d.replica.Pending)
	uncollected := d.left(min(lastCollect, d.cfg.DrainTimeout), d.replica.Uncollected)
	d.mu.Lock()
	postponed := d.replica.Postponed()
	d.mu.Unlock()
	if d.record.journal != nil && unfinished+postponed+uncollected > 0 {
		d.log.Info("handed over: start a scheduler with this folder again", "tasks", unfinished+postponed, "results", uncollected,
			"folder", d.cfg.Journal)
		return nil
	}
	if uncollected > 0 {
		d.log.Warn("results were not collected", "results", uncollected)
	}
	if unfinished > 0 {
		return fmt.Errorf("scheduler %s: abandoned %d unfinished tasks after %v (drain_timeout)", d.self.Name, unfinished, d.cfg.DrainTimeout)
	}
	d.log.Info("drained")
	return nil
}

// left waits until a count of the replica's is zero, for a bounded time, and returns what is left.
func (d *Daemon) left(limit time.Duration, count func() int) (n int) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	poll.Until(ctx, scheduler.TickEvery, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		n = count()
		return n == 0
	})
	return n
}

// perform starts what the replica wants done. The caller holds the lock, so that every stream gets its
// placements in the order of their numbers; nothing here blocks.
func (d *Daemon) perform(actions *scheduler.Actions) {
	d.record.note()
	for _, i := range actions.Drop {
		d.dropPeer(i)
	}
	for _, i := range actions.Connect {
		d.connectPeer(i)
	}
	for _, i := range actions.Ask {
		d.peers[i].ask()
	}
	for i := range actions.Send {
		d.peers[actions.Send[i].Node].post(&actions.Send[i])
	}
	for _, call := range actions.Probe {
		d.probe(call)
	}
	for _, call := range actions.Cancel {
		d.peers[call.Node].cancel(call)
	}
	for _, delta := range actions.Flush {
		d.data.post(delta)
	}
	for _, makespan := range actions.Finished {
		d.metrics.makespan.Observe(makespan)
	}
	if actions.Wake && d.waiting > 0 {
		close(d.news)
		d.news, d.waiting = make(chan struct{}), 0
	}
}
