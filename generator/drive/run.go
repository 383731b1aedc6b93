package drive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// state is where a task stands, as far as the generator knows.
type state uint8

const (
	idle     state = iota // not due yet
	queued                // due, waiting for a connection or for a scheduler
	sending               // in a message
	accepted              // its scheduler owes a result
	ended                 // its row is written
)

type task struct {
	sent  time.Duration // first handed to a connection, since the start; Never before
	peer  int32         // whose queue it is in, or who holds it; nobody: none takes tasks
	state state

	submissions int  // schedulers that may have taken it; one that restarted counts again
	astray      bool // the scheduler that it was last sent to may hold it, and is not asked any more
}

const nobody = -1

// attempt is a submission whose fate is unknown: that scheduler may hold the task.
type attempt struct {
	task int32
	peer int32
}

// run is a replay in progress. One lock guards it; no call is made under the lock.
type run struct {
	cfg      *Config
	dir      *RunDir
	start    time.Time
	progress *Progress

	mu       sync.Mutex
	tasks    []task
	peers    []*peer
	orphans  []int32          // due, and no scheduler takes them
	byID     map[string]int32 // sent and not ended
	doubtful map[attempt]bool
	deserted time.Duration // since when no scheduler lives; Never: some do
	open     int           // tasks without a row
	result   Result
	failure  error         // writing rows failed
	lag      time.Duration // of the last task that was sent

	stopping chan struct{} // nothing more is submitted for the first time
	stopped  bool
	over     chan struct{} // every task has its row
}

func newRun(cfg *Config, dir *RunDir, start time.Time, progress *Progress) *run {
	r := &run{
		cfg: cfg, dir: dir, start: start, progress: progress,
		tasks: make([]task, cfg.Workload.Len()), open: cfg.Workload.Len(),
		byID: map[string]int32{}, doubtful: map[attempt]bool{}, deserted: generator.Never,
		stopping: make(chan struct{}), over: make(chan struct{}),
	}
	for i := range r.tasks {
		r.tasks[i] = task{sent: generator.Never, peer: nobody}
	}
	for i, target := range cfg.Schedulers {
		r.peers = append(r.peers, newPeer(r, int32(i), target))
	}
	return r
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// play runs every goroutine of the replay and returns when all have ended.
func (r *run) play(ctx context.Context, abort <-chan struct{}) error {
	calls, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	paced := make(chan struct{})
	all.Go(func() { defer close(paced); r.pace() })
	all.Go(r.watch)
	if r.cfg.Data != nil {
		all.Go(func() { r.sample(calls) })
	}
	for _, p := range r.peers {
		for range r.cfg.Connections {
			all.Go(func() { p.send(calls) })
		}
		all.Go(func() { p.collect(calls) })
	}
	r.wait(ctx, abort, paced)
	cancel()
	all.Wait()
	r.progress.Finish()
	return r.failure
}

// wait returns when every task has its row, if need be by giving the rest up.
func (r *run) wait(ctx context.Context, abort, paced <-chan struct{}) {
	select {
	case <-r.over:
		return
	case <-ctx.Done():
	case <-abort:
	case <-paced:
		r.awaitResults(ctx, abort)
	}
	select {
	case <-r.over:
		return
	default:
	}
	r.stop("not submitted: the run was stopped")
	patience := time.NewTimer(r.cfg.DrainTimeout)
	defer patience.Stop()
	select {
	case <-r.over:
	case <-abort:
		r.abandon("abandoned: the run was ended at once")
	case <-patience.C:
		r.abandon(fmt.Sprintf("abandoned: no result within %v after the run was stopped", r.cfg.DrainTimeout))
	}
}

// awaitResults waits for the results of a workload that was submitted whole.
func (r *run) awaitResults(ctx context.Context, abort <-chan struct{}) {
	var late <-chan time.Time
	if r.cfg.Timeout > 0 {
		timer := time.NewTimer(r.cfg.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-r.over:
	case <-ctx.Done():
	case <-abort:
	case <-late:
		r.abandon(fmt.Sprintf("abandoned: no result within %v after the last submission", r.cfg.Timeout))
	}
}

// pace releases every task when it is due. It is the only goroutine that waits for arrivals.
func (r *run) pace() {
	w := r.cfg.Workload
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; {
		select {
		case <-timer.C:
		case <-r.stopping:
			return
		}
		r.mu.Lock()
		for now := r.now(); i < w.Len() && w.Due(i) <= now && !r.stopped; i++ {
			r.dispatch(int32(i), i%len(r.peers), now)
		}
		r.mu.Unlock()
		if i == w.Len() {
			return
		}
		timer.Reset(w.Due(i) - r.now())
	}
}

// dispatch queues a task at the first scheduler from the preferred one on that takes tasks.
func (r *run) dispatch(i int32, preferred int, now time.Duration) {
	t := &r.tasks[i]
	t.state, t.peer = queued, nobody
	for k := range r.peers {
		p := r.peers[(preferred+k)%len(r.peers)]
		if p.takes(now) {
			t.peer = p.index
			p.queue = append(p.queue, i)
			p.wake.Signal()
			return
		}
	}
	r.orphans = append(r.orphans, i)
}

// redispatch sends the tasks that a scheduler had elsewhere: those in its queue and, when it is gone,
// those that it accepted. It may hold the latter still, or again when it answers next.
func (r *run) redispatch(p *peer, gone bool) {
	p.queue = p.queue[:0]
	for i := range r.tasks {
		t := &r.tasks[i]
		if t.peer != p.index || t.state != queued && !(gone && t.state == accepted) {
			continue
		}
		if t.state == accepted {
			r.suspect(int32(i), p)
		}
		r.dispatch(int32(i), int(p.index)+1, r.now())
	}
}

// adopt queues the tasks that no scheduler took, once one does.
func (r *run) adopt(now time.Duration) {
	waiting := r.orphans
	r.orphans = nil
	for _, i := range waiting {
		if t := &r.tasks[i]; t.state == queued && t.peer == nobody {
			r.dispatch(i, int(i)%len(r.peers), now)
		}
	}
}

// stop ends what was never submitted; nothing more is submitted for the first time.
func (r *run) stop(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Stopped = true
	r.halt()
	for i := range r.tasks {
		if t := &r.tasks[i]; t.sent == generator.Never && t.state != ended {
			r.result.NotSubmitted++
			r.end(int32(i), cluster.Cancelled, reason)
		}
	}
}

func (r *run) halt() {
	if !r.stopped {
		r.stopped = true
		close(r.stopping)
	}
}

// abandon ends everything: no result is waited for any more.
func (r *run) abandon(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halt()
	for i := range r.tasks {
		if r.tasks[i].state != ended {
			r.result.Abandoned++
			r.end(int32(i), cluster.Lost, reason)
		}
	}
}
