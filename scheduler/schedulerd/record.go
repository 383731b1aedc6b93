package schedulerd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
	"dodoor/scheduler/journal"
)

// record makes durable what the replica must not forget: a group at a time, of all that has changed since the last one, while the
// replica goes on.
type record struct {
	d       *Daemon
	journal *journal.Journal // nil: nothing is kept
	write   func([]scheduler.Change) error
	look    func() error  // fails when the disk is nearly full
	posted  chan struct{} // holds a token when something has changed since the last group
	noted   int64         // position that posted tells of; guarded by the daemon's lock

	mu     sync.Mutex // guards what follows; taken after the daemon's, if both are
	synced int64
	news   chan struct{} // closed when more is durable, or nothing will be
	failed error
	full   error     // why nothing more is accepted
	begun  time.Time // when the group that is written was begun; zero: none is
}

// remember opens the journal and the replica that it tells of. Without a folder the replica begins with nothing.
func (r *record) remember(d *Daemon) (err error) {
	r.d, r.posted, r.news = d, make(chan struct{}, 1), make(chan struct{})
	cfg := &d.cfg.Replica
	cfg.Incarnation, cfg.Epoch = d.start.UnixNano(), d.start.UnixNano()
	if d.cfg.Journal == "" {
		d.replica, err = scheduler.New(*cfg, d.cfg.Policy)
		return err
	}
	if r.journal, err = journal.Open(d.cfg.Journal, d.log); err != nil {
		return fmt.Errorf("scheduler %s: %w", cfg.Name, err)
	}
	r.write = r.journal.Write
	if err = r.restore(cfg); err != nil {
		r.close()
		return fmt.Errorf("scheduler %s: journal %s: %w", cfg.Name, d.cfg.Journal, err)
	}
	return nil
}

// restore takes up what the journal holds. What the replica tells of first, its own incarnation above all, is durable before anybody
// hears of it.
func (r *record) restore(cfg *scheduler.Config) error {
	begin := time.Now()
	last, err := r.last()
	if err != nil {
		return err
	}
	cfg.Keeps, cfg.Incarnation = true, cluster.NextIncarnation(last, cfg.Incarnation)
	if r.d.replica, err = scheduler.Restore(*cfg, r.d.cfg.Policy, r.journal.Each); err != nil {
		return err
	}
	if err := r.flush(nil); err != nil {
		return err
	}
	r.look = r.journal.Room
	r.looked()
	if n, results := r.d.replica.Pending(), r.d.replica.Uncollected(); n+results > 0 {
		r.d.log.Info("taken up from the journal", "tasks", n, "results", results, "folder", r.d.cfg.Journal, "took", time.Since(begin))
	}
	return nil
}

// last is the incarnation of the process that wrote the journal last; 0: nobody did.
func (r *record) last() (incarnation int64, err error) {
	err = r.journal.Each(func(key string, value []byte) error {
		if key == scheduler.MetaKey {
			incarnation, err = scheduler.LastIncarnation(value)
		}
		return err
	})
	return incarnation, err
}

// run writes groups until ctx ends, and then the last one. It ends the service when the journal cannot be written.
func (r *record) run(ctx context.Context, fatal chan<- error) {
	if r.journal == nil {
		return
	}
	var changes []scheduler.Change
	for ended := false; !ended; {
		select {
		case <-r.posted:
		case <-ctx.Done():
			ended = true
		}
		if err := r.flush(&changes); err != nil {
			r.settle(0, err)
			fatal <- err
			return
		}
	}
}

// flush makes durable what has changed so far. into is room for it, or nil.
func (r *record) flush(into *[]scheduler.Change) error {
	if into == nil {
		into = new([]scheduler.Change)
	}
	r.d.mu.Lock()
	changes, upTo := r.d.replica.Changes((*into)[:0])
	r.d.mu.Unlock()
	begin := time.Now()
	r.under(begin)
	err := r.write(changes)
	r.under(time.Time{})
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		r.d.metrics.sync.Observe(time.Since(begin))
	}
	clear(changes)
	*into = changes
	r.d.mu.Lock()
	r.d.replica.Synced(upTo)
	for _, p := range r.d.peers {
		p.durable(upTo)
	}
	r.d.mu.Unlock()
	r.settle(upTo, nil)
	return nil
}

// under tells since when a group is under way.
func (r *record) under(begun time.Time) {
	r.mu.Lock()
	r.begun = begun
	r.mu.Unlock()
}

// settle wakes the answers that wait.
func (r *record) settle(upTo int64, failed error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced, r.failed = max(r.synced, upTo), failed
	close(r.news)
	r.news = make(chan struct{})
}

// note tells that the replica may have changed. The caller holds the daemon's lock.
func (r *record) note() {
	if position := r.d.replica.Recorded(); position != r.noted {
		r.noted = position
		signal(r.posted)
	}
}

// durable returns when what was recorded up to a position is on disk. The caller holds no lock, and waits without a handler's slot.
func (r *record) durable(ctx context.Context, upTo int64) error {
	if r.journal == nil {
		return nil
	}
	rpc.Waits(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.synced < upTo && r.failed == nil {
		news := r.news
		r.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
		}
		r.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if r.synced < upTo {
		return cluster.Errorf(cluster.Draining, "scheduler %s ends: its journal cannot be written", r.d.self.Name)
	}
	return nil
}

// roomEvery is how often the disk is looked at.
const roomEvery = time.Second

// watch looks how full the disk is until ctx ends.
func (r *record) watch(ctx context.Context) {
	if r.journal == nil {
		return
	}
	poll.Every(ctx, roomEvery, r.looked)
}

func (r *record) looked() {
	full := r.look()
	r.mu.Lock()
	before := r.full
	r.full = full
	r.mu.Unlock()
	if before == nil && full != nil {
		r.d.log.Warn("no new tasks are accepted", "error", full)
	}
}

// fullAfter is how long one stays away from a scheduler whose disk is nearly full: somebody has to make room.
const fullAfter = 10 * time.Second

// room fails with cluster.Overloaded when the disk is nearly full.
func (r *record) room() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full != nil {
		return cluster.Later(cluster.Overloaded, fullAfter, "scheduler %s: %v", r.d.cfg.Replica.Name, r.full)
	}
	return nil
}

// slowAfter is how long a group may be under way until the scheduler counts as one that answers nobody.
const slowAfter = 5 * time.Second

// ready fails when nothing is accepted for the disk's sake.
func (r *record) ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.full != nil:
		return r.full
	case !r.begun.IsZero() && time.Since(r.begun) > slowAfter:
		return fmt.Errorf("the disk of its journal %s has been writing for %v: see to it (dmesg)", r.d.cfg.Journal,
			time.Since(r.begun).Round(time.Second))
	}
	return nil
}

// close lets the journal go.
func (r *record) close() {
	if r.journal == nil {
		return
	}
	if err := r.journal.Close(); err != nil {
		r.d.log.Warn("ends all the same", "error", err)
	}
}
