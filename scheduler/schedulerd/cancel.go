package schedulerd

import (
	"errors"

	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

// cancel asks the worker to stop a task, when why it does is durable. Its completion notice says what became of it; a worker out
// of reach is dealt with by its stream. A job may have very many tasks, so one call is under way per worker, and the same one
// does not wait twice. The caller holds the lock.
func (p *peer) cancel(call scheduler.CancelCall) {
	if p == nil || p.queued[stopped{call.TaskID, call.Over}] {
		return
	}
	if p.queued == nil {
		p.queued = map[stopped]bool{}
	}
	p.queued[stopped{call.TaskID, call.Over}] = true
	p.cancels = append(p.cancels, call)
	p.stop()
}

// stopped is what a call is about.
type stopped struct {
	taskID string
	over   bool
}

// stop sends the calls that may leave, unless somebody does already. The caller holds the lock.
func (p *peer) stop() {
	if !p.cancelling && len(p.cancels) > 0 && p.d.replica.Leaves(&p.cancels[0]) {
		p.cancelling = true
		p.d.work.Go(p.sendCancels)
	}
}

func (p *peer) sendCancels() {
	for {
		call, ok := p.nextCancel()
		if !ok {
			return
		}
		if _, err := p.client.Cancel(p.ctx, call.TaskID, p.d.self.Name); err != nil && !errors.Is(err, rpc.ErrUnavailable) && p.ctx.Err() == nil {
			p.d.log.Warn("cancelling failed", "task", call.TaskID, "worker", p.node.Name, "error", err)
		}
	}
}

// nextCancel returns the next call that still stands; false: there is none that may leave by now.
func (p *peer) nextCancel() (call scheduler.CancelCall, ok bool) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	for len(p.cancels) > 0 && p.ctx.Err() == nil {
		if !p.d.replica.Leaves(&p.cancels[0]) {
			p.cancelling = false
			return call, false
		}
		call, p.cancels = p.cancels[0], p.cancels[1:]
		delete(p.queued, stopped{call.TaskID, call.Over})
		if p.d.replica.Stands(&call) {
			return call, true
		}
	}
	p.cancels, p.queued, p.cancelling = nil, nil, false
	return call, false
}
