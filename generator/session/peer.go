package session

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
	session *Session
	index   int
	posts   chan post           // as many as there are connections
	polls   chan generator.Poll // the next one
	calls   context.Context     // ends with the session, or when the scheduler has left
	leave   context.CancelFunc
	posting context.Context // of submissions: ends when the scheduler is thought dead, and is made anew then
	silence context.CancelFunc
	known   templates
}

// post is a message, and how long it may take.
type post struct {
	*generator.Message
	ctx context.Context
}

func (s *Session) newPeer(index int, target Target) *peer {
	p := &peer{Target: target, session: s, index: index,
		posts: make(chan post, s.cfg.Connections), polls: make(chan generator.Poll, 1)}
	p.calls, p.leave = context.WithCancel(s.calls)
	p.posting, p.silence = context.WithCancel(p.calls)
	return p
}

// hush ends the submissions that are under way.
func (p *peer) hush() {
	p.silence()
	p.posting, p.silence = context.WithCancel(p.calls)
}

// serve submits and collects until the session is over or the scheduler has left, and then hangs up. Where nobody waits for
// ends there is nothing to collect, but whoever is polled is known to be gone, to be back, or to have forgotten.
func (p *peer) serve() {
	var calls sync.WaitGroup
	for range p.session.cfg.Connections {
		calls.Go(p.send)
	}
	p.collect()
	calls.Wait()
	if over := p.session.calls.Err() != nil; !over && p.Close != nil {
		_ = p.Close() // nothing is expected from there any more
	}
}

// send submits messages, one at a time.
func (p *peer) send() {
	var tasks []cluster.TaskSpec
	for {
		var m post
		select {
		case m = <-p.posts:
		case <-p.calls.Done():
			return
		}
		tasks = tasks[:0]
		for _, i := range m.Tasks {
			tasks = append(tasks, p.session.cfg.Task(i))
		}
		refused, err := p.submit(m, tasks)
		if p.calls.Err() != nil {
			return // the session is over, and with it every task. (Of who has left nothing is outstanding.)
		}
		p.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
			if err == nil {
				return c.Accepted(now, m.Message, refused)
			}
			return c.Failed(now, m.Message, FailureOf(err), err)
		})
	}
}

// submit posts tasks, each template with the first that needs it, unless the scheduler is known to have it by its digest.
func (p *peer) submit(m post, tasks []cluster.TaskSpec) ([]cluster.Refusal, error) {
	riding := map[string]bool{}
	for i := range tasks {
		if c := tasks[i].Command; c != nil {
			if riding[c.Digest] || !m.Whole && p.known.has(c.Digest) {
				c.Template = nil
			}
			riding[c.Digest] = true
		}
	}
	cfg := &p.session.cfg
	request := cluster.SubmitRequest{Client: cfg.Name, Tasks: tasks, Job: cfg.Job, Incarnation: m.Incarnation}
	if cfg.Silent {
		request.Client = ""
	}
	refused, err := p.Service.Submit(m.ctx, request)
	if err != nil || len(riding) == 0 {
		return refused, err
	}
	p.known.add(riding)
	for i := range refused {
		if refused[i].Code == cluster.UnknownTemplate {
			for k := range tasks {
				if tasks[k].ID == refused[i].TaskID {
					p.known.remove(tasks[k].Command.Digest)
				}
			}
		}
	}
	return refused, nil
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

// collect fetches the results of one scheduler until the session is over or the scheduler has left.
func (p *peer) collect() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		var poll generator.Poll
		select {
		case poll = <-p.polls:
		case <-p.calls.Done():
			p.acknowledge()
			return
		}
		pause.Reset(poll.At - p.session.Now())
		select {
		case <-pause.C:
		case <-p.calls.Done():
			p.acknowledge()
			return
		}
		ctx, cancel := context.WithTimeout(p.calls, poll.Wait+generator.AnswerWithin)
		reply, err := p.Service.Collect(ctx, p.request(&poll))
		cancel()
		if err != nil && p.calls.Err() != nil {
			return
		}
		p.session.Step(func(c *generator.Client, now time.Duration) *generator.Actions {
			if err == nil {
				return c.Collected(now, p.index, &reply)
			}
			return c.PollFailed(now, p.index, FailureOf(err), err)
		})
	}
}

func (p *peer) request(poll *generator.Poll) cluster.CollectRequest {
	return cluster.CollectRequest{Client: p.session.cfg.Name, After: poll.After, Incarnation: poll.Incarnation, Max: poll.Max, Wait: poll.Wait}
}

// acknowledge lets the scheduler forget the last records. Otherwise it keeps them for a while, and that is all.
func (p *peer) acknowledge() {
	var poll generator.Poll
	var read bool
	p.session.With(func(c *generator.Client) { poll, read = c.Acknowledge(p.index) })
	if read {
		ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
		defer cancel()
		_, _ = p.Service.Collect(ctx, p.request(&poll))
	}
}
