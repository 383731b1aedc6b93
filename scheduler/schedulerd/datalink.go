package schedulerd

import (
	"context"
	"sync"
	"sync/atomic"
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
	sender *rpc.Sender[*cluster.Delta]
	lost   chan struct{} // asks for a new registration

	service atomic.Int64 // incarnation registered with; 0: none

	mu      sync.Mutex
	posted  int64 // deltas
	flushes int64 // deltas answered or given up
	changed chan struct{}
}

func (l *dataLink) init(d *Daemon) {
	l.d = d
	l.client = rpc.NewDataClient(d.cfg.DataService, d.cfg.Replica.Dimensions, d.cfg.RPC)
	l.sender = rpc.NewSender(d.cfg.MaxBatch, 0, l.flush)
	l.lost = make(chan struct{}, 1)
	l.changed = make(chan struct{})
}

func (l *dataLink) registered() bool { return l.service.Load() != 0 }

const (
	registerEvery = 100 * time.Millisecond // between attempts while the data service is away
	checkEvery    = 2 * time.Second        // between looks whether it is still the same process
)

// run keeps the scheduler registered. It ends the scheduler when another process has taken its name.
func (l *dataLink) run(ctx context.Context, fatal chan<- error) {
	complained := false
	for ctx.Err() == nil {
		if err := l.register(ctx); err != nil {
			if code := cluster.CodeOf(err); code == cluster.Stale || code == cluster.Invalid {
				fatal <- err
				return
			}
			if !complained && ctx.Err() == nil {
				l.d.log.Warn("data service away: placing from the last snapshot", "address", l.d.cfg.DataService, "error", err)
				complained = true
			}
			rest(ctx, registerEvery)
			continue
		}
		complained = false
		l.watch(ctx)
		l.service.Store(0)
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
	l.service.Store(snapshot.Incarnation)
	select {
	case <-l.lost: // a flush that met the new process before this registration
	default:
	}
	l.d.log.Info("registered with the data service", "address", l.d.cfg.DataService, "nodes", len(snapshot.Node))
	return nil
}

// watch returns when the data service is lost or another process answers.
func (l *dataLink) watch(ctx context.Context) {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.lost:
			return
		case <-ticker.C:
			if l.client.CheckScheduler(ctx, l.d.self.Name, l.d.self.Incarnation) != nil {
				return
			}
		}
	}
}

// post queues a delta; nothing waits for it.
func (l *dataLink) post(delta *cluster.Delta) {
	l.mu.Lock()
	l.posted++
	l.mu.Unlock()
	if err := l.sender.Post(delta); err != nil {
		l.answered(1)
	}
}

// flush delivers the waiting deltas as one. What does not arrive is forgotten: its workers go into the
// next delta.
func (l *dataLink) flush(ctx context.Context, batch []*cluster.Delta) {
	delta := scheduler.Merge(batch)
	incarnation, err := l.client.Flush(ctx, *delta)
	if err != nil || incarnation != l.service.Load() {
		l.d.mu.Lock()
		l.d.replica.FlushFailed(delta)
		l.d.mu.Unlock()
		select {
		case l.lost <- struct{}{}:
		default:
		}
	}
	l.answered(len(batch))
}

func (l *dataLink) answered(deltas int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushes += int64(deltas)
	close(l.changed)
	l.changed = make(chan struct{})
}

// flushed returns when every delta posted so far was answered or given up.
func (l *dataLink) flushed(ctx context.Context) error {
	l.mu.Lock()
	target := l.posted
	for l.flushes < target {
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		l.mu.Lock()
	}
	l.mu.Unlock()
	return nil
}

// close stops the flushes and hangs up.
func (l *dataLink) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l.sender.Close(ctx)
	l.client.Close()
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
