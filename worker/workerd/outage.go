package workerd

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// askEvery is how often executors that are away are asked whether they are back.
const askEvery = time.Second

// noticeLoss looks at a result. A task that an executor gave up before it began may mean that no task can begin
// here: then the worker takes no more until its executors are ready again. It would look idle otherwise,
// and get everybody's tasks. What it holds goes on, and an operator's Drain is another matter.
func (d *Daemon) noticeLoss(r *worker.Result) {
	if r.Outcome != cluster.Lost {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asking && !d.leaving {
		d.asking = true
		d.work.Go(d.awaitExecutors)
	}
}

// awaitExecutors returns when the executors are ready, or the worker is to end.
func (d *Daemon) awaitExecutors() {
	if err := d.executorsReady(); err != nil {
		d.log.Warn("takes no tasks until its executors are ready", "error", err)
		d.setAway(true)
		ticker := time.NewTicker(askEvery)
		defer ticker.Stop()
		for err != nil {
			select {
			case <-d.running.Done():
				return
			case <-ticker.C:
				err = d.executorsReady()
			}
		}
		d.log.Info("executors are ready, takes tasks again")
	}
	d.setAway(false)
}

// setAway notes whether executors are away; if not, nobody asks them any more.
func (d *Daemon) setAway(away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away, d.asking = away, away
	d.perform(d.node.Drain(d.closed()))
}

// closed reports whether placements are refused. The caller holds the lock.
func (d *Daemon) closed() bool { return d.leaving || d.drained || d.away }

// takes returns why the worker takes no tasks, as far as it knows without asking anybody.
func (d *Daemon) takes() error {
	if !d.data.admitted() {
		return fmt.Errorf("worker %s: not registered with the data service at %s yet", d.self.Name, d.cfg.DataService)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.leaving || d.drained:
		return fmt.Errorf("worker %s: draining", d.self.Name)
	case d.away:
		return fmt.Errorf("worker %s: an executor was away, and takes tasks again within %v of its return", d.self.Name, askEvery)
	}
	return nil
}
