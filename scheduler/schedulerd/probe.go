package schedulerd

import (
	"context"
	"errors"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
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

// cancel asks the worker to stop a task. Its completion notice says what became of it; a worker out of
// reach is dealt with by its stream. A job may have very many tasks, so one call is under way per worker. The caller
// holds the lock.
func (p *peer) cancel(taskID string) {
	if p == nil {
		return
	}
	p.cancels = append(p.cancels, taskID)
	if !p.cancelling {
		p.cancelling = true
		p.d.work.Go(p.sendCancels)
	}
}

func (p *peer) sendCancels() {
	for {
		p.d.mu.Lock()
		tasks := p.cancels
		p.cancels, p.cancelling = nil, len(tasks) > 0 && p.ctx.Err() == nil
		going := p.cancelling
		p.d.mu.Unlock()
		if !going {
			return
		}
		for _, id := range tasks {
			if _, err := p.client.Cancel(p.ctx, id); err != nil && !errors.Is(err, rpc.ErrUnavailable) && p.ctx.Err() == nil {
				p.d.log.Warn("cancelling failed", "task", id, "worker", p.node.Name, "error", err)
			}
		}
	}
}
