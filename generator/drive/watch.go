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
			if err := r.dir.rows.Flush(); err != nil && r.failure == nil {
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
		r.progress.show(submitted, done, now, lag)
	}
}

// checkPatience gives up what no scheduler takes, once none has lived for too long. Results that a
// scheduler still owes are waited for as long as it answers, even though it takes nothing new.
func (r *run) checkPatience(now time.Duration) {
	answering := false
	for _, p := range r.peers {
		if !p.down && !p.draining {
			r.deserted = generator.Never
			return
		}
		answering = answering || !p.down
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
		t := &r.tasks[i]
		if t.state == idle || t.state == queued || !answering && t.state == accepted {
			r.end(int32(i), cluster.Lost, reason)
		}
	}
}
