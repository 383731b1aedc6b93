package schedulerd

import (
	"context"
	"errors"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// pollID stands in a probe that no task asked for.
const pollID = "poll"

var errNoStream = errors.New("the worker left")

// probe asks a worker for its state and gives the answer, or the failure, to the replica. A worker that
// does not answer costs one deadline. The caller holds the lock; the call runs on its own.
func (d *Daemon) probe(call scheduler.ProbeCall) {
	p := d.peers[call.Node]
	task, id, demand := call.Task, pollID, cluster.Resources{}
	if task != nil {
		id, demand = task.ID, task.Uniform.Demand
	}
	d.work.Go(func() {
		answer := scheduler.Probe{Task: task, Node: call.Node}
		err := errNoStream
		if p != nil {
			ctx, cancel := context.WithTimeout(p.ctx, d.cfg.ProbeTimeout)
			answer.Answer, err = p.client.Probe(ctx, id, demand)
			cancel()
		}
		answer.Failed = err != nil
		d.mu.Lock()
		defer d.mu.Unlock()
		d.perform(d.replica.Probed(d.now(), answer))
	})
}
