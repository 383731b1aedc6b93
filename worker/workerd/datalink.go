package workerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/worker"
)

// dataLink keeps the worker registered with the data service and its state reported, as worker.Reporter says.
type dataLink struct {
	d       *Daemon
	client  *rpc.DataClient
	rules   worker.Reporter // guarded by the daemon's lock
	posted  chan struct{}
	wakes   time.Duration // when it looks at the clock next; guarded likewise
	stop    context.CancelFunc
	stopped chan struct{}

	complained bool // about a registration, since the last one that was taken
}

func (l *dataLink) init(d *Daemon) {
	l.d, l.rules = d, worker.NewReporter(d.cfg.Heartbeat)
	l.posted, l.stopped = make(chan struct{}, 1), make(chan struct{})
	l.client = rpc.NewDataClient(d.cfg.DataService, d.cfg.Node.Dimensions, d.cfg.RPC)
}

// reportSoon asks for a report. It never blocks. The caller holds the lock.
func (l *dataLink) reportSoon() {
	l.rules.Post()
	l.poke()
}

// watch looks at the clock when a task may have run past its estimate. It never blocks. The caller holds the lock.
func (l *dataLink) watch() {
	if due := l.d.node.Due(); due != 0 && due < l.wakes {
		l.wakes = due
		l.poke()
	}
}

func (l *dataLink) poke() {
	select {
	case l.posted <- struct{}{}:
	default:
	}
}

// start keeps the worker registered and its state reported until leave. When another process has taken
// its name, that error ends the worker.
func (l *dataLink) start(fatal chan<- error) {
	ctx, stop := context.WithCancel(l.d.running)
	l.stop = stop
	go func() {
		defer close(l.stopped)
		l.run(ctx, fatal)
	}()
}

func (l *dataLink) run(ctx context.Context, fatal chan<- error) {
	var report cluster.Report
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		ask, wake := l.next(&report)
		if ask == worker.NoRequest {
			timer.Reset(wake - l.d.now())
			l.await(ctx, timer)
			continue
		}
		var err error
		if ask == worker.RegisterRequest {
			_, err = l.client.RegisterNode(ctx, l.d.self)
		} else {
			err = l.client.Report(ctx, report)
		}
		if over := l.answered(err); over {
			fatal <- err
			return
		}
		if ctx.Err() == nil {
			l.note(ask, err)
		}
	}
}

// next returns what is to be sent now, and fills the report if it is one, or when to ask again.
func (l *dataLink) next(report *cluster.Report) (ask worker.Request, wake time.Duration) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	now := l.d.now()
	l.d.perform(l.d.node.Overran(now))
	if ask, wake = l.rules.Next(now); ask == worker.ReportRequest || ask == worker.HeartbeatRequest {
		l.d.node.FillReport(now, report)
	}
	if due := l.d.node.Due(); due != 0 {
		wake = min(wake, due)
	}
	l.wakes = wake
	return ask, wake
}

// await returns when something was posted or it is time.
func (l *dataLink) await(ctx context.Context, timer *time.Timer) {
	select {
	case <-timer.C:
	case <-l.posted:
	case <-ctx.Done():
	}
}

// answered takes what came of a request.
func (l *dataLink) answered(err error) (over bool) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	code := cluster.CodeOf(err)
	if err != nil && code == 0 {
		l.rules.Failed(l.d.now())
		return false
	}
	return l.rules.Answered(l.d.now(), code)
}

// note logs what came of a request.
func (l *dataLink) note(ask worker.Request, err error) {
	switch {
	case ask != worker.RegisterRequest:
		if err != nil {
			l.d.log.Debug("report failed", "error", err)
		}
	case err == nil:
		l.d.log.Info("registered with the data service", "address", l.d.cfg.DataService)
		l.complained = false
	case !l.complained:
		l.d.log.Warn("cannot register", "address", l.d.cfg.DataService, "error", err)
		l.complained = true
	}
}

// registered reports whether the data service knows the worker.
func (l *dataLink) registered() bool {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	return l.rules.Registered()
}

// admitted reports whether schedulers can know the worker.
func (l *dataLink) admitted() bool {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	return l.rules.Admitted()
}

// leave stops reporting, so that no report that is refused makes the worker register again, and says
// good-bye, so that nothing more is placed here.
func (l *dataLink) leave() {
	l.stop()
	<-l.stopped
	if !l.registered() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	if err := l.client.UnregisterNode(ctx, l.d.self.Name, l.d.self.Incarnation); err != nil {
		l.d.log.Warn("unregistering failed", "error", err)
	}
}

func (l *dataLink) close() { l.client.Close() }
