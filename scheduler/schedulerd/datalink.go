package schedulerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

// dataLink is the scheduler's connection to the data service. The scheduler never waits for it to
// place: registration, flushes and the liveness check run beside the hot path, and while the data
// service is away placement goes on with the last snapshot.
type dataLink struct {
	d      *Daemon
	client *rpc.DataClient
	posted chan struct{} // holds a token when a delta was posted since the last flush
	lost   chan struct{} // holds a token when a delta found that the replica is not known any more

	complained bool // about a registration, since the last one that was taken

	flusher   scheduler.Flusher // guarded, like what follows, by the daemon's lock
	registrar scheduler.Registrar
	settled   chan struct{} // closed when a delta was answered or given up
}

func (l *dataLink) init(d *Daemon) {
	l.d = d
	l.client = rpc.NewDataClient(d.cfg.DataService, d.cfg.Replica.Dimensions, d.cfg.RPC)
	l.posted, l.lost = make(chan struct{}, 1), make(chan struct{}, 1)
	l.flusher = scheduler.Flusher{Replica: d.replica, MaxBatch: d.cfg.MaxBatch}
	l.registrar.Flusher = &l.flusher
	l.settled = make(chan struct{})
}

func (l *dataLink) registered() bool {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	return l.flusher.IsRegistered()
}

// run keeps the scheduler registered. It ends the scheduler when another process has taken its name.
func (l *dataLink) run(ctx context.Context, fatal chan<- error) {
	for ctx.Err() == nil {
		l.d.mu.Lock()
		ask, wake := l.registrar.Next(l.d.now())
		l.d.mu.Unlock()
		switch ask {
		case scheduler.NoRequest:
			l.await(ctx, wake)
		case scheduler.RegisterRequest:
			if err := l.register(ctx); err != nil && l.refused(ctx, err) {
				fatal <- err
				return
			}
		case scheduler.CheckRequest:
			l.check(ctx)
		}
	}
}

// await returns when a delta found that the replica is not known any more, or it is time.
func (l *dataLink) await(ctx context.Context, wake time.Duration) {
	timer := time.NewTimer(wake - l.d.now())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.lost:
	case <-ctx.Done():
	}
}

// register introduces this replica and takes the whole snapshot that it gets in return.
func (l *dataLink) register(ctx context.Context) error {
	snapshot, err := l.client.RegisterScheduler(ctx, l.d.self)
	if err != nil {
		return err
	}
	if err := l.d.Push(ctx, snapshot); err != nil {
		return err
	}
	l.d.mu.Lock()
	l.registrar.Registered(l.d.now(), snapshot.Incarnation)
	l.d.mu.Unlock()
	l.complained = false
	l.d.log.Info("registered with the data service", "address", l.d.cfg.DataService, "nodes", len(snapshot.Node))
	return nil
}

// refused takes the failure of a registration.
func (l *dataLink) refused(ctx context.Context, err error) (over bool) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	over = l.registrar.Failed(l.d.now(), cluster.CodeOf(err))
	if !over && !l.complained && ctx.Err() == nil {
		l.d.log.Warn("data service away: placing from the last snapshot", "address", l.d.cfg.DataService, "error", err)
		l.complained = true
	}
	return over
}

// check looks whether the data service still knows this replica.
func (l *dataLink) check(ctx context.Context) {
	err := l.client.CheckScheduler(ctx, l.d.self.Name, l.d.self.Incarnation)
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if err == nil {
		l.registrar.Known(l.d.now())
	} else {
		l.registrar.Failed(l.d.now(), cluster.CodeOf(err))
	}
}

// post queues a delta; nothing waits for it. The caller holds the lock.
func (l *dataLink) post(delta *cluster.Delta) {
	l.flusher.Post(delta)
	signal(l.posted)
}

// signal leaves a token for whoever waits for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// flush delivers deltas until ctx ends.
func (l *dataLink) flush(ctx context.Context) {
	for ctx.Err() == nil {
		l.d.mu.Lock()
		delta := l.flusher.Next()
		l.d.mu.Unlock()
		if delta == nil {
			select {
			case <-l.posted:
			case <-ctx.Done():
			}
			continue
		}
		service, err := l.client.Flush(ctx, *delta)
		l.answered(service, err)
	}
}

func (l *dataLink) answered(service int64, err error) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if l.flusher.Answered(service, err) {
		l.registrar.Lost(l.d.now())
		signal(l.lost)
	}
	close(l.settled)
	l.settled = make(chan struct{})
}

// flushed returns when every delta posted so far was answered or given up.
func (l *dataLink) flushed(ctx context.Context) error {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	for target := l.flusher.Posted(); l.flusher.Settled() < target; {
		settled := l.settled
		l.d.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
		}
		l.d.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// leave says good-bye, so that nobody pushes to this process any more.
func (l *dataLink) leave() {
	if !l.registered() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.d.patience())
	defer cancel()
	if err := l.flushed(ctx); err != nil {
		l.d.log.Warn("last delta was not delivered", "error", err)
	}
	if err := l.client.UnregisterScheduler(ctx, l.d.self.Name, l.d.self.Incarnation); err != nil {
		l.d.log.Warn("unregistering failed", "error", err)
	}
}
