package datastored

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// pusher sends snapshots to one scheduler, one at a time.
type pusher struct {
	d       *Daemon
	ref     cluster.SchedulerRef
	client  *rpc.SchedulerClient
	signals chan struct{}
	ctx     context.Context
	close   context.CancelFunc
	failing time.Time // since when pushes do not arrive; zero: they do

	// Guarded by the daemon's lock.
	asked, done int64
	progress    chan struct{}
}

// backlog is how many pushes may wait for a scheduler that is still busy with one. A push always
// carries the newest state, so a longer backlog would repeat itself.
const backlog = 4

// newPusher replaces the pusher of a scheduler. The caller holds the lock.
func (d *Daemon) newPusher(ref cluster.SchedulerRef) {
	d.dropPusher(ref.Name)
	p := &pusher{d: d, ref: ref, signals: make(chan struct{}, backlog), progress: make(chan struct{})}
	p.client = rpc.NewSchedulerClient(ref.Address, d.cfg.Dimensions, d.cfg.RPC)
	p.ctx, p.close = context.WithCancel(d.running)
	d.pushers[ref.Name] = p
	d.work.Go(p.run)
}

// dropPusher ends the pusher of a scheduler, if it has one. The caller holds the lock.
func (d *Daemon) dropPusher(name string) {
	if p := d.pushers[name]; p != nil {
		p.close()
		delete(d.pushers, name)
	}
}

// signal asks for one push. The caller holds the lock.
func (p *pusher) signal() {
	select {
	case p.signals <- struct{}{}:
		p.asked++
	default:
		p.d.skipped++
	}
}

func (p *pusher) run() {
	defer p.client.Close()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.signals:
			p.push()
		}
	}
}

// push sends what the scheduler lacks now, and everything if it has not got what that builds on. A
// failure loses nothing: the next push covers it.
func (p *pusher) push() {
	err := p.send()
	if cluster.CodeOf(err) == cluster.Gap {
		p.forget()
		err = p.send()
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.done++
	close(p.progress)
	p.progress = make(chan struct{})
	if err == nil {
		p.failing = time.Time{}
	} else {
		p.failed(err)
	}
}

// send sends one snapshot, unless the scheduler has left.
func (p *pusher) send() error {
	d := p.d
	d.mu.Lock()
	snapshot, registered := d.store.SnapshotFor(p.ref.Name, p.ref.Incarnation)
	d.mu.Unlock()
	if !registered {
		return nil
	}
	if err := p.client.Push(p.ctx, snapshot); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store.Acknowledged(p.ref.Name, &snapshot)
	return nil
}

func (p *pusher) forget() {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.d.store.Forget(p.ref.Name)
}

// failed notes a push that did not arrive. A scheduler that stays out of reach is unregistered: it
// registers again when it is back. The caller holds the lock, so a pusher that was replaced knows.
func (p *pusher) failed(err error) {
	if p.ctx.Err() != nil {
		return
	}
	if p.failing.IsZero() {
		p.failing = time.Now()
		p.d.log.Warn("push failed", "scheduler", p.ref.Name, "address", p.ref.Address, "error", err)
	}
	if rpc.Refused(err) || cluster.CodeOf(err) == cluster.Stale || time.Since(p.failing) >= p.d.cfg.Store.NodeTimeout {
		p.d.log.Warn("scheduler gone", "scheduler", p.ref.Name)
		p.d.store.UnregisterScheduler(p.ref.Name, p.ref.Incarnation)
		p.d.dropPusher(p.ref.Name)
	}
}

// settled returns when every push asked for so far was answered or given up.
func (p *pusher) settled(ctx context.Context) error {
	p.d.mu.Lock()
	target := p.asked
	for p.done < target {
		progress := p.progress
		p.d.mu.Unlock()
		select {
		case <-progress:
		case <-p.ctx.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		p.d.mu.Lock()
	}
	p.d.mu.Unlock()
	return nil
}
