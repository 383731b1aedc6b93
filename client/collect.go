package client

import (
	"context"
	"time"

	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
)

// ackTimeout bounds the last word to a scheduler.
const ackTimeout = time.Second

// collect fetches the ends of a scheduler's tasks until the submission is over.
func (p *peer) collect() {
	r := p.run
	for {
		var poll generator.Poll
		select {
		case poll = <-p.polls:
		case <-r.calls.Done():
			p.acknowledge()
			return
		}
		if wait := poll.At - r.now(); wait > 0 && !pause(r.calls, wait) {
			p.acknowledge()
			return
		}
		reply, err := p.Service.Collect(r.calls, p.request(&poll))
		if err != nil && r.calls.Err() != nil {
			return
		}
		r.step(func(now time.Duration) *generator.Actions {
			if err == nil {
				return r.client.Collected(now, p.index, &reply)
			}
			return r.client.PollFailed(now, p.index, drive.FailureOf(err), err)
		})
	}
}

func (p *peer) request(poll *generator.Poll) cluster.CollectRequest {
	return cluster.CollectRequest{Client: p.run.Job.ID, After: poll.After, Incarnation: poll.Incarnation, Max: poll.Max, Wait: poll.Wait}
}

// acknowledge lets the scheduler forget the last records. Otherwise it keeps them for a while, and that is all.
func (p *peer) acknowledge() {
	p.run.mu.Lock()
	poll, ok := p.run.client.Acknowledge(p.index)
	p.run.mu.Unlock()
	if ok {
		ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
		defer cancel()
		_, _ = p.Service.Collect(ctx, p.request(&poll))
	}
}
