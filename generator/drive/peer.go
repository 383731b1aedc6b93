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

// peer is one scheduler: what is on its way there, and the poll for its results.
type peer struct {
	Target
	run   *run
	index int
	posts chan *generator.Message // to submit; as many as there are connections
	polls chan generator.Poll     // the next one
	calls context.Context         // ends with the run, or when the scheduler has left
	leave context.CancelFunc
}

func (r *run) newPeer(index int, target Target) *peer {
	p := &peer{Target: target, run: r, index: index,
		posts: make(chan *generator.Message, r.cfg.Connections), polls: make(chan generator.Poll, 1)}
	p.calls, p.leave = context.WithCancel(r.calls)
	return p
}

// serve submits and collects until the run is over or the scheduler has left, and then hangs up.
func (p *peer) serve() {
	var calls sync.WaitGroup
	for range p.run.cfg.Connections {
		calls.Go(func() { p.send(p.calls) })
	}
	p.collect(p.calls)
	calls.Wait()
	if over := p.run.calls.Err() != nil; !over && p.Close != nil {
		_ = p.Close() // nothing is expected from there any more
	}
}

// send submits messages, one at a time.
func (p *peer) send(ctx context.Context) {
	request := cluster.SubmitRequest{Client: p.run.cfg.Client}
	for {
		var m *generator.Message
		select {
		case m = <-p.posts:
		case <-ctx.Done():
			return
		}
		request.Tasks = request.Tasks[:0]
		for _, i := range m.Tasks {
			request.Tasks = append(request.Tasks, p.run.cfg.Workload.Task(int(i)))
		}
		refused, err := p.Service.Submit(ctx, request)
		if ctx.Err() != nil {
			return // the run is over: every task has its row. (Of who has left nothing is outstanding.)
		}
		p.run.step(func(now time.Duration) *generator.Actions {
			if err == nil {
				return p.run.client.Accepted(now, m, refused)
			}
			return p.run.client.Failed(now, m, FailureOf(err), err)
		})
	}
}

// FailureOf tells how surely a request did not arrive. A declared error, a broken handler and a message
// that is too large are the request's own fault.
func FailureOf(err error) generator.Failure {
	switch {
	case rpc.Refused(err):
		return generator.Gone
	case rpc.NotSent(err):
		return generator.NotSent
	case errors.Is(err, rpc.ErrTooLarge), errors.Is(err, rpc.ErrRemote):
		return generator.Faulty
	}
	return generator.FailureOf(cluster.CodeOf(err))
}

const ackTimeout = time.Second

// collect fetches the results of one scheduler until the run is over or the scheduler has left.
func (p *peer) collect(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		var poll generator.Poll
		select {
		case poll = <-p.polls:
		case <-ctx.Done():
			p.acknowledge()
			return
		}
		pause.Reset(poll.At - p.run.now())
		select {
		case <-pause.C:
		case <-ctx.Done():
			p.acknowledge()
			return
		}
		reply, err := p.Service.Collect(ctx, p.request(&poll))
		if err != nil && ctx.Err() != nil {
			return
		}
		p.run.step(func(now time.Duration) *generator.Actions {
			if err == nil {
				return p.run.client.Collected(now, p.index, &reply)
			}
			return p.run.client.PollFailed(now, p.index, FailureOf(err), err)
		})
	}
}

func (p *peer) request(poll *generator.Poll) cluster.CollectRequest {
	return cluster.CollectRequest{Client: p.run.cfg.Client, After: poll.After, Incarnation: poll.Incarnation, Max: poll.Max, Wait: poll.Wait}
}

// acknowledge lets the scheduler forget the last records.
func (p *peer) acknowledge() {
	p.run.mu.Lock()
	poll, ok := p.run.client.Acknowledge(p.index)
	p.run.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
	defer cancel()
	if _, err := p.Service.Collect(ctx, p.request(&poll)); err != nil {
		p.run.cfg.Log.Debug("the last results were not acknowledged", "scheduler", p.Name, "error", err)
	}
}
