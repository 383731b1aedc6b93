package drive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
)

// run is a replay in progress. What becomes of the tasks is the session's to bring about: here they are released when they are
// due, and written down. The session's lock guards what has no other.
type run struct {
	cfg     *Config
	dir     *rundir.Dir
	bar     *progress.Line
	session *session.Session
	start   time.Time
	all     sync.WaitGroup // of its goroutines

	info     *generator.RunInfo
	sampling bool // of nodes; by the one who looks
	result   Result
	failure  error         // writing rows failed
	lag      time.Duration // of the last task that was sent
	row      generator.Row // that is being written

	over chan struct{} // every task has its row
}

func newRun(cfg *Config, dir *rundir.Dir, info *generator.RunInfo, bar *progress.Line) *run {
	r := &run{cfg: cfg, dir: dir, start: info.Started, info: info, bar: bar, sampling: true, over: make(chan struct{})}
	w := cfg.Workload
	c := session.Config{
		ClientConfig: generator.ClientConfig{Tasks: w.Len(), Connections: cfg.Connections, MaxBatch: cfg.MaxBatch,
			PollPause: generator.PollPause, Seed: uint64(info.Started.UnixNano()),
			Patience: cfg.Patience, DrainTimeout: cfg.DrainTimeout, Timeout: cfg.Timeout},
		Targets: cfg.Schedulers, Name: cfg.Client,
		Task: func(i int32) cluster.TaskSpec { return w.Task(int(i)) },
		Sent: func(c *generator.Client, m *generator.Message) {
			last := m.Tasks[len(m.Tasks)-1]
			r.lag = c.Sent(last) - w.Due(int(last))
		},
		News: r.tell, Ended: r.write,
	}
	if cfg.Connect != nil {
		c.Connect = r.join
	}
	if cfg.Data != nil {
		c.Listed = r.look
	}
	r.session = session.New(c, r.start)
	r.session.With(func(c *generator.Client) {
		for i := range w.Len() {
			c.Expect(w.ID(i), w.AtMostOnce())
		}
	})
	return r
}

// join connects to a scheduler that takes part from now on, and keeps what it had counted before its first task of this run.
func (r *run) join(ref cluster.SchedulerRef) Target {
	target := r.cfg.Connect(ref)
	if _, former := r.info.Before.Schedulers[target.Name]; former {
		target.Name += "@" + target.Address // the former process's counters are missing at the end, and said to be
	}
	r.all.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		counts, err := target.Service.Counters(ctx)
		if err != nil {
			return // it counts as one that has just started
		}
		r.session.With(func(*generator.Client) { r.info.Before.Schedulers[target.Name] = counts })
	})
	return target
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
	r.session.Start()
	r.all.Go(r.pace)
	r.all.Go(r.watch)
	r.wait(ctx, abort)
	r.session.Close()
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
	r.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
		r.result.Stopped = c.Open() > 0
		return c.Stop(now)
	})
	select {
	case <-r.over:
	case <-abort:
		r.abandon("abandoned: the run was ended at once")
	}
}

func (r *run) abandon(reason string) {
	r.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions { return c.Abandon(now, reason) })
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
		r.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
			for due = due[:0]; i < w.Len() && w.Due(i) <= now; i++ {
				due = append(due, int32(i))
			}
			return c.Submit(now, due...)
		})
		if i < w.Len() {
			timer.Reset(w.Due(i) - r.session.Now())
		}
	}
}

const (
	tick       = 50 * time.Millisecond
	flushEvery = time.Second // rows reach the disk at least so often
)

// watch shows how far the run is, and has rows reach the disk.
func (r *run) watch() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	flushed := time.Duration(0)
	for {
		select {
		case <-ticker.C:
		case <-r.over:
			return
		}
		now := r.session.Now()
		var failed bool
		var submitted, done int
		var lag time.Duration
		r.session.With(func(c *generator.Client) {
			if now-flushed >= flushEvery {
				flushed = now
				if err := r.dir.Rows.Flush(); err != nil && r.failure == nil {
					r.failure = err
				}
			}
			failed = r.failure != nil
			submitted, done, lag = c.Underway()+r.result.Tasks-r.result.NotSubmitted, r.result.Tasks, r.lag
		})
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
	if r.result.Tasks == r.cfg.Workload.Len() {
		close(r.over)
	}
}
