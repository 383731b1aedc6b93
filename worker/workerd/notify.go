package workerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/worker"
)

// notifier carries completions to one scheduler, as worker.Notifier says.
type notifier struct {
	d     *Daemon
	name  string
	rules worker.Notifier // guarded by the daemon's lock, like flushed

	notice worker.Notice // under way
	client *rpc.SchedulerClient
	addr   string

	flushed chan struct{} // closed when nothing waits; nil: nobody asks
}

// notify carries what has ended to a scheduler. The caller holds the lock.
func (d *Daemon) notify(scheduler string) {
	n := d.notifiers[scheduler]
	if n == nil {
		n = &notifier{d: d, name: scheduler, rules: worker.NewNotifier(d.node, scheduler, d.cfg.MaxBatch)}
		d.notifiers[scheduler] = n
	}
	n.rules.Post()
	if send, _ := n.next(); send {
		d.work.Go(n.deliver)
	}
}

// next returns what follows, and tells whoever waits that nothing does. The caller holds the lock.
func (n *notifier) next() (send bool, wake time.Duration) {
	send, wake = n.rules.Next(n.d.now(), &n.notice)
	if n.flushed != nil && n.rules.Idle() {
		close(n.flushed)
		n.flushed = nil
	}
	return send, wake
}

// deliver sends the notice, and those that follow, until nothing is to be sent.
func (n *notifier) deliver() {
	send, wake := true, time.Duration(0)
	for (send || wake > 0) && n.d.running.Err() == nil {
		var err error
		if send {
			err = n.send()
		} else {
			rest(n.d.running, wake-n.d.now())
		}
		n.d.mu.Lock()
		if send {
			n.answered(err)
		}
		send, wake = n.next()
		n.d.mu.Unlock()
	}
}

func (n *notifier) send() error {
	if n.client == nil || n.addr != n.notice.To.Address {
		n.hangUp()
		n.addr = n.notice.To.Address
		n.client = rpc.NewSchedulerClient(n.addr, n.d.cfg.Node.Dimensions, n.d.cfg.RPC.To(n.name))
	}
	return n.client.Complete(n.d.running, n.notice.Message)
}

// answered takes what came of a notice. The caller holds the lock.
func (n *notifier) answered(err error) {
	code := cluster.CodeOf(err)
	if err != nil && code == 0 {
		n.rules.Failed(n.d.now())
	} else {
		n.rules.Answered(n.d.now(), &n.notice, code)
	}
	switch {
	case code == cluster.Stale:
		n.d.log.Info("scheduler restarted: results are kept until it attaches or they expire", "scheduler", n.name)
	case err != nil:
		n.d.log.Debug("completion notice failed", "scheduler", n.name, "address", n.addr, "error", err)
	}
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

// retireNotifiers ends those that are no longer needed.
func (d *Daemon) retireNotifiers() {
	var retired []*notifier
	d.mu.Lock()
	for name, n := range d.notifiers {
		if n.rules.Retired(d.now()) {
			delete(d.notifiers, name)
			retired = append(retired, n)
		}
	}
	d.mu.Unlock()
	for _, n := range retired {
		n.hangUp()
	}
}

// shutdownLimit is the time that the others get at shutdown: the schedulers to take the last completions, the data
// service to let the worker go.
const shutdownLimit = 2 * time.Second

// flushNotices waits until every scheduler has taken what waits for it, for a bounded time.
func (d *Daemon) flushNotices() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
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

// hangUpNotifiers closes their connections. Nothing is under way, and nobody starts another notifier: no
// request is answered any more, and no task is left that could end.
func (d *Daemon) hangUpNotifiers() {
	for _, n := range d.notifiers {
		n.hangUp()
	}
}
