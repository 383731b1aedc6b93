package workerd

import (
	"context"
	"sync/atomic"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// dataLink registers the worker and reports its state: after completions, and as a heartbeat. At most
// one report is under way; a report is the whole state, so the newest one makes older ones needless.
type dataLink struct {
	d          *Daemon
	client     *rpc.DataClient
	due        chan struct{}
	registered atomic.Bool
	stop       context.CancelFunc
	stopped    chan struct{}
}

func (l *dataLink) init(d *Daemon) {
	l.d = d
	l.due, l.stopped = make(chan struct{}, 1), make(chan struct{})
	l.client = rpc.NewDataClient(d.cfg.DataService, d.cfg.Node.Dimensions, d.cfg.RPC)
}

// reportSoon asks for a report. It never blocks.
func (l *dataLink) reportSoon() {
	select {
	case l.due <- struct{}{}:
	default:
	}
}

const (
	registerEvery = 100 * time.Millisecond // between attempts while the data service is away
	giveUpName    = 30 * time.Second       // how long a name that another process holds is waited for
)

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
	for {
		err := l.register(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			fatal <- err
			return
		}
		l.report(ctx)
		if ctx.Err() != nil {
			return
		}
		l.registered.Store(false)
	}
}

// register tries until the data service has answered or ctx ends. It fails when the answer will not
// change.
func (l *dataLink) register(ctx context.Context) error {
	since, complained := time.Now(), false
	for ctx.Err() == nil {
		_, err := l.client.RegisterNode(ctx, l.d.self)
		switch code := cluster.CodeOf(err); {
		case err == nil:
			l.registered.Store(true)
			l.d.log.Info("registered with the data service", "address", l.d.cfg.DataService)
			return nil
		case code == cluster.Stale || code == cluster.Invalid || code == cluster.DuplicateNode && time.Since(since) > giveUpName:
			return err
		}
		if !complained && ctx.Err() == nil {
			l.d.log.Warn("cannot register", "address", l.d.cfg.DataService, "error", err)
			complained = true
		}
		rest(ctx, registerEvery)
	}
	return nil
}

// report sends reports until the data service no longer knows this worker. A report that does not
// arrive is not repeated: the next heartbeat says everything.
func (l *dataLink) report(ctx context.Context) {
	heartbeat := time.NewTimer(0)
	defer heartbeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.due:
		case <-heartbeat.C:
		}
		l.d.mu.Lock()
		r := l.d.node.Report(l.d.now())
		l.d.mu.Unlock()
		switch err := l.client.Report(ctx, r); cluster.CodeOf(err) {
		case cluster.UnknownNode, cluster.Stale:
			return
		default:
			if err != nil && ctx.Err() == nil {
				l.d.log.Debug("report failed", "error", err)
			}
		}
		heartbeat.Reset(l.d.cfg.Heartbeat)
	}
}

// leave stops reporting, so that no report that is refused makes the worker register again, and says
// good-bye, so that nothing more is placed here.
func (l *dataLink) leave() {
	l.stop()
	<-l.stopped
	if !l.registered.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if err := l.client.UnregisterNode(ctx, l.d.self.Name, l.d.self.Incarnation); err != nil {
		l.d.log.Warn("unregistering failed", "error", err)
	}
}

func (l *dataLink) close() { l.client.Close() }
