package drive

import (
	"context"
	"errors"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

const (
	drainRest    = time.Second            // before a draining scheduler is asked again
	overloadRest = 100 * time.Millisecond // before an overloaded one is
)

// peer is one scheduler as the generator sees it. The run's lock guards it.
type peer struct {
	Target
	run   *run
	index int32

	queue     []int32 // due tasks that wait for a connection
	wake      sync.Cond
	down      bool          // does not answer
	draining  bool          // answers, and takes nothing
	restUntil time.Duration // takes nothing before
	trouble   error         // why the last call failed
}

func newPeer(r *run, index int32, target Target) *peer {
	p := &peer{Target: target, run: r, index: index}
	p.wake.L = &r.mu
	return p
}

// takes reports whether a submission has a chance.
func (p *peer) takes(now time.Duration) bool { return !p.down && now >= p.restUntil }

// send submits what waits, one message at a time.
func (p *peer) send(ctx context.Context) {
	var batch []int32
	var specs []cluster.TaskSpec
	for {
		if batch = p.take(batch[:0]); len(batch) == 0 {
			return
		}
		specs = specs[:0]
		for _, i := range batch {
			specs = append(specs, p.run.cfg.Workload.Task(int(i)))
		}
		p.submit(ctx, batch, specs)
	}
}

// take waits for tasks and takes as many as one message may carry; none when the run is over.
func (p *peer) take(batch []int32) []int32 {
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for r.open > 0 && len(p.queue) == 0 {
			p.wake.Wait()
		}
		if r.open == 0 {
			return nil
		}
		now, taken := r.now(), 0
		for taken < len(p.queue) && len(batch) < r.cfg.MaxBatch {
			i := p.queue[taken]
			taken++
			t := &r.tasks[i]
			if t.state != queued || t.peer != p.index {
				continue // it ended or moved while it waited
			}
			t.state = sending
			if t.sent == generator.Never {
				t.sent = now
				r.lag = now - r.cfg.Workload.Due(int(i))
				r.byID[r.cfg.Workload.ID(int(i))] = i
			}
			if t.submissions == 0 || t.astray {
				t.submissions++
				t.astray = false
			}
			batch = append(batch, i)
		}
		p.queue = p.queue[taken:]
		if len(batch) > 0 {
			return batch
		}
	}
}

// submit sends one message. A failure that leaves its fate open is met by repeating it once: ids make
// that harmless, and a scheduler that only lost a connection keeps its tasks.
func (p *peer) submit(ctx context.Context, batch []int32, specs []cluster.TaskSpec) {
	request := cluster.SubmitRequest{Client: p.run.cfg.Client, Tasks: specs}
	refused, err := p.Service.Submit(ctx, request)
	if unanswered(err) && !rpc.NotSent(err) && ctx.Err() == nil {
		p.run.doubt(batch, p)
		refused, err = p.Service.Submit(ctx, request)
	}
	if ctx.Err() != nil {
		return // the run is over: every task has its row
	}
	code := cluster.CodeOf(err)
	if len(batch) > 1 && err != nil && !unanswered(err) && code != cluster.Draining && code != cluster.Overloaded {
		for j := range batch { // one task must not take the others down with it
			p.submit(ctx, batch[j:j+1], specs[j:j+1])
		}
		return
	}
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	switch {
	case err == nil:
		p.recovered()
		r.accept(p, batch, refused)
	case code == cluster.Draining:
		p.rest(batch, err, now+drainRest)
		p.draining = true
	case code == cluster.Overloaded:
		p.rest(batch, err, now+overloadRest)
	case unanswered(err):
		r.requeue(batch)
		p.lose(err)
	default:
		for _, i := range batch {
			if r.tasks[i].state == sending {
				r.end(i, cluster.Failed, err.Error())
			}
		}
	}
}

// unanswered: the request may or may not have arrived, and the service may be gone. A declared error,
// a broken handler and a message that is too large are the request's own fault.
func unanswered(err error) bool {
	return err != nil && cluster.CodeOf(err) == 0 && !errors.Is(err, rpc.ErrTooLarge) && !errors.Is(err, rpc.ErrRemote)
}

func (p *peer) rest(batch []int32, err error, until time.Duration) {
	p.trouble, p.restUntil = err, until
	p.run.requeue(batch)
	p.run.redispatch(p, false)
}

// lose takes note that the scheduler does not answer.
func (p *peer) lose(err error) {
	if !p.down {
		p.run.cfg.Log.Warn("a scheduler does not answer: its tasks go to another", "scheduler", p.Name, "error", err)
	}
	p.down, p.trouble = true, err
	p.run.redispatch(p, true)
}

func (p *peer) recovered() {
	if p.down {
		p.run.cfg.Log.Info("a scheduler answers again", "scheduler", p.Name)
	}
	p.down, p.draining, p.restUntil = false, false, 0
}

// doubt remembers that the scheduler may hold these tasks.
func (r *run) doubt(batch []int32, p *peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range batch {
		r.suspect(i, p)
	}
}

func (r *run) suspect(i int32, p *peer) {
	r.doubtful[attempt{i, p.index}] = true
	r.tasks[i].astray = true
}

// requeue puts back what was in a message that failed; its scheduler's redispatch follows.
func (r *run) requeue(batch []int32) {
	for _, i := range batch {
		if r.tasks[i].state == sending {
			r.tasks[i].state = queued
		}
	}
}

// accept takes the answer to a submission. A scheduler that already has a task of ours, from a
// message that seemed lost, owes its result as if it had just accepted it.
func (r *run) accept(p *peer, batch []int32, refused []cluster.Refusal) {
	for _, refusal := range refused {
		i, ok := r.byID[refusal.TaskID]
		if !ok || r.tasks[i].state != sending || r.tasks[i].peer != p.index ||
			refusal.Code == cluster.DuplicateTask && r.doubtful[attempt{i, p.index}] {
			continue
		}
		r.end(i, cluster.Failed, refusal.Error())
	}
	for _, i := range batch {
		if r.tasks[i].state == sending {
			r.tasks[i].state, r.tasks[i].astray = accepted, false
		}
	}
}
