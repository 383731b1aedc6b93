package drive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
)

// run is a replay in progress. One lock guards it; no call is made under the lock. What becomes of the
// tasks is the client's to decide: here messages are moved and timers set.
type run struct {
	cfg   *Config
	dir   *rundir.Dir
	start time.Time
	bar   *progress.Line
	calls context.Context // of calls that are cut off when the run is over
	cut   context.CancelFunc
	all   sync.WaitGroup // of its goroutines

	mu      sync.Mutex
	client  *generator.Client
	peers   []*peer // by the client's index; nil: it left
	info    *generator.RunInfo
	wake    time.Duration // when the client wants a tick
	alarm   *time.Timer   // of the watch
	due     time.Duration // when it goes off
	result  Result
	failure error         // writing rows failed
	lag     time.Duration // of the last task that was sent
	row     generator.Row // that is being written

	over chan struct{} // every task has its row
}

func newRun(cfg *Config, dir *rundir.Dir, info *generator.RunInfo, bar *progress.Line) *run {
	r := &run{cfg: cfg, dir: dir, start: info.Started, info: info, bar: bar, wake: generator.Never, due: tick, alarm: time.NewTimer(tick),
		over: make(chan struct{})}
	r.calls, r.cut = context.WithCancel(context.Background())
	submission := generator.ClientConfig{Tasks: cfg.Workload.Len(), Connections: cfg.Connections, MaxBatch: cfg.MaxBatch,
		PollPause: generator.PollPause,
		Patience:  cfg.Patience, DrainTimeout: cfg.DrainTimeout, Timeout: cfg.Timeout}
	for i, target := range cfg.Schedulers {
		submission.Schedulers = append(submission.Schedulers, cluster.SchedulerRef{Name: target.Name, Address: target.Address})
		r.peers = append(r.peers, r.newPeer(i, target))
	}
	r.client = generator.NewClient(submission)
	for i := range cfg.Workload.Len() {
		r.client.Expect(cfg.Workload.ID(i))
	}
	return r
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// step calls one verb of the client and performs what it wants done. Nothing of that waits.
func (r *run) step(verb func(now time.Duration) *generator.Actions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	actions := verb(r.now())
	if r.wake = actions.Wake; r.wake != generator.Never && r.wake < r.due {
		r.due = r.wake
		r.alarm.Reset(r.due - r.now())
	}
	for i := range actions.Join {
		r.join(&actions.Join[i])
	}
	for _, m := range actions.Send {
		last := m.Tasks[len(m.Tasks)-1]
		r.lag = r.client.Sent(last) - r.cfg.Workload.Due(int(last))
		r.peers[m.Scheduler].posts <- m // there is room: the client knows how many connections there are
	}
	for _, p := range actions.Poll {
		r.peers[p.Scheduler].polls <- p
	}
	for _, i := range actions.Drop {
		r.drop(i)
	}
	for i := range actions.News {
		r.tell(&actions.News[i])
	}
	for i := range actions.Ended {
		r.write(&actions.Ended[i])
	}
	if len(actions.Ended) > 0 && r.client.Open() == 0 {
		close(r.over)
	}
}

func (r *run) tell(n *generator.News) {
	switch {
	case n.Err != nil:
		r.cfg.Log.Warn(string(n.What), "scheduler", n.Scheduler, "error", n.Err)
	case n.What == generator.Joined, n.What == generator.Left:
		r.cfg.Log.Info(string(n.What), "scheduler", n.Scheduler, "address", n.Address)
	case n.What == generator.Back:
		r.cfg.Log.Info(string(n.What), "scheduler", n.Scheduler)
	default:
		r.cfg.Log.Warn(string(n.What), "scheduler", n.Scheduler)
	}
}

// play runs every goroutine of the replay and returns when all have ended.
func (r *run) play(ctx context.Context, abort <-chan struct{}) error {
	r.all.Go(r.pace)
	r.all.Go(r.watch)
	if r.cfg.Data != nil {
		r.all.Go(r.look)
	}
	for _, p := range r.peers {
		r.all.Go(p.serve)
	}
	r.step(r.client.Start)
	r.wait(ctx, abort)
	r.cut()
	r.all.Wait()
	r.bar.Finish()
	return r.failure
}

// wait returns when every task has its row, if need be by giving the rest up.
func (r *run) wait(ctx context.Context, abort <-chan struct{}) {
	select {
	case <-r.over:
		return
	case <-ctx.Done():
	case <-abort:
	}
	r.step(func(now time.Duration) *generator.Actions {
		r.result.Stopped = r.client.Open() > 0
		return r.client.Stop(now)
	})
	select {
	case <-r.over:
	case <-abort:
		r.abandon("abandoned: the run was ended at once")
	}
}

func (r *run) abandon(reason string) {
	r.step(func(now time.Duration) *generator.Actions { return r.client.Abandon(now, reason) })
}

// pace releases every task when it is due. It is the only goroutine that waits for arrivals.
func (r *run) pace() {
	w := r.cfg.Workload
	timer := time.NewTimer(0)
	defer timer.Stop()
	var due []int32
	for i := 0; i < w.Len(); {
		select {
		case <-timer.C:
		case <-r.over:
			return
		}
		r.step(func(now time.Duration) *generator.Actions {
			for due = due[:0]; i < w.Len() && w.Due(i) <= now; i++ {
				due = append(due, int32(i))
			}
			return r.client.Submit(now, due...)
		})
		if i < w.Len() {
			timer.Reset(w.Due(i) - r.now())
		}
	}
}

const (
	tick       = 50 * time.Millisecond
	flushEvery = time.Second // rows reach the disk at least so often
)

// watch wakes the client when something is due that no message announces, and shows how far the run is.
func (r *run) watch() {
	defer r.alarm.Stop()
	flushed := time.Duration(0)
	for {
		select {
		case <-r.alarm.C:
		case <-r.over:
			return
		}
		r.step(r.client.Tick)
		r.mu.Lock()
		now, next := r.now(), tick
		if now-flushed >= flushEvery {
			flushed = now
			if err := r.dir.Rows.Flush(); err != nil && r.failure == nil {
				r.failure = err
			}
		}
		if r.wake != generator.Never {
			next = max(0, min(tick, r.wake-now))
		}
		r.due = now + next
		r.alarm.Reset(next)
		failed := r.failure != nil
		submitted, done, lag := r.client.Underway()+r.result.Tasks-r.result.NotSubmitted, r.result.Tasks, r.lag
		r.mu.Unlock()
		if failed {
			r.abandon("abandoned: the rows cannot be written")
			return
		}
		r.bar.Show(done, now, func(perSecond float64) string {
			return fmt.Sprintf("submitted %d, %.0f/s, %.1f ms late, completed", submitted, perSecond, float64(lag)/float64(time.Millisecond))
		})
	}
}

// write is the only place where a row is written.
func (r *run) write(e *generator.Ending) {
	r.row = e.Row(r.cfg.Workload, time.Duration(r.start.UnixNano()))
	row := &r.row
	row.Warmup = int(e.Task) < r.cfg.Warmup
	r.result.Tasks++
	switch row.Outcome {
	case cluster.Finished:
		r.result.Finished++
	case cluster.Failed:
		r.result.Failed++
	case cluster.TimedOut:
		r.result.TimedOut++
	case cluster.Cancelled:
		r.result.Cancelled++
	default:
		r.result.Lost++
	}
	switch e.Cause {
	case generator.NotSubmitted:
		r.result.NotSubmitted++
	case generator.Abandoned:
		r.result.Abandoned++
	}
	if err := r.dir.Rows.Write(row); err != nil && r.failure == nil {
		r.failure = fmt.Errorf("row of task %s: %w", row.TaskID, err)
	}
}
