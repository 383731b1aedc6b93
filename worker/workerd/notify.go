package workerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/worker"
)

// notifier carries completions to one scheduler: one notice at a time, repeated until the scheduler has
// taken it or its results expire. It ends when there was nothing to carry for a while.
type notifier struct {
	d       *Daemon
	name    string
	signals chan struct{}
	ctx     context.Context
	close   context.CancelFunc

	// Guarded by the daemon's lock.
	busy    bool           // a notice is on its way
	first   *worker.Notice // what it is to carry; nil: what waits then
	flushed chan struct{}  // closed when nothing waits; nil: nobody asks

	client *rpc.SchedulerClient
	addr   string
}

// notify wakes the notifier of a scheduler. An idle one gets its notice from this very step: the report
// that rides on it then precedes the step's own report to the data service, whoever runs first, and a
// scheduler does not take that for older than what it has. The caller holds the lock.
func (d *Daemon) notify(scheduler string) {
	n := d.notifiers[scheduler]
	if n == nil {
		n = &notifier{d: d, name: scheduler, signals: make(chan struct{}, 1)}
		n.ctx, n.close = context.WithCancel(context.Background())
		d.notifiers[scheduler] = n
		d.work.Go(n.run)
	}
	if !n.busy {
		if notice, waiting := d.node.Notice(d.now(), scheduler, d.cfg.MaxBatch); waiting {
			n.busy, n.first = true, &notice
		}
	}
	select {
	case n.signals <- struct{}{}:
	default:
	}
}

// linger is how long a notifier without work keeps its connection: schedulers come and go.
const linger = time.Minute

func (n *notifier) run() {
	defer n.hangUp()
	quiet := time.NewTimer(linger)
	defer quiet.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.signals:
			n.deliver()
			quiet.Reset(linger)
		case <-quiet.C:
			if n.retire() {
				return
			}
		}
	}
}

// retire makes the next completion start a new notifier, unless one has come just now.
func (n *notifier) retire() bool {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if len(n.signals) > 0 {
		return false
	}
	delete(n.d.notifiers, n.name)
	return true
}

const (
	firstBackoff = 10 * time.Millisecond
	lastBackoff  = time.Second
)

// deliver sends what waits. A scheduler that cannot be reached is tried again while its results are
// kept; one that restarted does not know the tasks, and its results wait for whoever asks.
func (n *notifier) deliver() {
	backoff := firstBackoff
	for n.ctx.Err() == nil {
		notice, waiting := n.next()
		if !waiting {
			return
		}
		err := n.send(&notice)
		switch {
		case err == nil:
			n.d.mu.Lock()
			n.d.node.Acknowledged(&notice)
			n.d.mu.Unlock()
			backoff = firstBackoff
			continue
		case n.ctx.Err() != nil:
			return
		case cluster.CodeOf(err) == cluster.Stale:
			n.d.log.Info("scheduler restarted: results are kept until it attaches or they expire", "scheduler", n.name)
			n.d.mu.Lock()
			n.answer()
			n.d.mu.Unlock()
			return
		}
		n.d.log.Debug("completion notice failed", "scheduler", n.name, "address", notice.To.Address, "error", err)
		rest(n.ctx, backoff)
		backoff = min(2*backoff, lastBackoff)
	}
}

// next returns the notice to send, if anything waits.
func (n *notifier) next() (worker.Notice, bool) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if first := n.first; first != nil {
		n.first = nil
		return *first, true
	}
	notice, waiting := n.d.node.Notice(n.d.now(), n.name, n.d.cfg.MaxBatch)
	n.busy = waiting
	if !waiting {
		n.answer()
	}
	return notice, waiting
}

// answer ends a delivery, and tells whoever waits that nothing is left to carry. The caller holds the lock.
func (n *notifier) answer() {
	n.busy = false
	if n.flushed != nil {
		close(n.flushed)
		n.flushed = nil
	}
}

func (n *notifier) send(notice *worker.Notice) error {
	if n.client == nil || n.addr != notice.To.Address {
		n.hangUp()
		n.addr = notice.To.Address
		n.client = rpc.NewSchedulerClient(n.addr, n.d.cfg.Node.Dimensions, n.d.cfg.RPC)
	}
	return n.client.Complete(n.ctx, notice.Message)
}

func (n *notifier) hangUp() {
	if n.client != nil {
		n.client.Close()
	}
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// farewell is what the others get at shutdown: the schedulers to take the last completions, the data
// service to let the worker go.
const farewell = 2 * time.Second

// flushNotices waits until every scheduler has taken what waits for it, for a bounded time.
func (d *Daemon) flushNotices() {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	flushed := map[string]chan struct{}{}
	d.mu.Lock()
	for name, n := range d.notifiers {
		flushed[name] = make(chan struct{})
		n.flushed = flushed[name]
		d.notify(name)
	}
	d.mu.Unlock()
	for name, done := range flushed {
		select {
		case <-done:
		case <-ctx.Done():
			d.log.Warn("a scheduler did not take the last results", "scheduler", name)
		}
	}
}

// closeNotifiers ends them. Nobody starts another: no request is answered any more, and no task is left
// that could end.
func (d *Daemon) closeNotifiers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.notifiers {
		n.close()
	}
}
