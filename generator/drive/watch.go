package drive

import (
	"fmt"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

const (
	tick       = 50 * time.Millisecond
	flushEvery = time.Second // rows reach the disk at least so often
)

// watch looks after everything that no message announces: schedulers that may take tasks again, and
// the patience with those that do not.
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
		r.mu.Lock()
		now := r.now()
		r.adopt(now)
		r.checkPatience(now)
		if now-flushed >= flushEvery {
			flushed = now
			if err := r.dir.Rows.Flush(); err != nil && r.failure == nil {
				r.failure = err
			}
		}
		failed := r.failure != nil
		submitted, done, lag := len(r.byID)+r.result.Tasks-r.result.NotSubmitted, r.result.Tasks, r.lag
		r.mu.Unlock()
		if failed {
			r.abandon("abandoned: the rows cannot be written")
			return
		}
		r.progress.Show(done, now, func(perSecond float64) string {
			return fmt.Sprintf("submitted %d, %.0f/s, %.1f ms late, completed", submitted, perSecond, float64(lag)/float64(time.Millisecond))
		})
	}
}

// checkPatience gives up what no scheduler takes, once none has for too long. What a draining
// scheduler accepted is waited for: it still answers. (What a dead one accepted is queued again.)
func (r *run) checkPatience(now time.Duration) {
	for _, p := range r.peers {
		if !p.down && !p.draining {
			r.deserted = generator.Never
			return
		}
	}
	if r.deserted == generator.Never {
		r.deserted = now
	}
	if now-r.deserted < r.cfg.Patience {
		return
	}
	r.halt()
	reason := fmt.Sprintf("no scheduler took tasks for %v (%v)", r.cfg.Patience, r.peers[0].trouble)
	for i := range r.tasks {
		if t := &r.tasks[i]; t.state == idle || t.state == queued {
			r.end(int32(i), cluster.Lost, reason)
		}
	}
}
