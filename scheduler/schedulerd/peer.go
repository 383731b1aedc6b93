package schedulerd

import (
	"context"
	"errors"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

// peer is the connection to one worker process, and the goroutine that makes the moves of its delivery.
type peer struct {
	d      *Daemon
	index  int
	node   cluster.Node
	client *rpc.WorkerClient // its calls take half the patience at most
	ctx    context.Context
	close  context.CancelFunc
	posted chan struct{} // holds a token when something was posted since the last move

	delivery scheduler.Delivery   // guarded by the daemon's lock
	wait     time.Duration        // until the next attempt
	resting  bool                 // for that long
	message  cluster.Enqueue      // under way
	question cluster.ClaimRequest // likewise
	waits    int64                // position up to which what was posted last has to be durable; 0: it is

	cancels    []scheduler.CancelCall // what the worker is to stop, not told yet
	queued     map[stopped]bool       // the tasks among them
	cancelling bool
}

// connectPeer opens the stream to the process that now owns a node index. The caller holds the lock.
func (d *Daemon) connectPeer(index int) {
	for len(d.peers) <= index {
		d.peers = append(d.peers, nil)
	}
	d.dropPeer(index)
	p := &peer{d: d, index: index, node: d.replica.Node(index), posted: make(chan struct{}, 1), delivery: d.deliveries.Open(index)}
	p.ctx, p.close = context.WithCancel(d.running)
	calls := d.cfg.RPC.To(p.node.Name)
	calls.CallTimeout = d.patience() / 2 // a machine that is gone says nothing: it must be noticed before the grace is over
	p.client = rpc.NewWorkerClient(p.node.Address, d.cfg.Replica.Dimensions, calls)
	d.peers[index] = p
	signal(p.posted) // it may owe the worker something
	d.work.Go(p.run)
}

// dropPeer closes a stream; what it had not sent belongs to tasks that the replica placed again. The
// caller holds the lock.
func (d *Daemon) dropPeer(index int) {
	if p := d.peers[index]; p != nil {
		d.peers[index] = nil
		p.close()
	}
}

func (d *Daemon) closePeers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.peers {
		d.dropPeer(i)
	}
}

// post queues a placement. A node that left in the meantime has no stream, and its tasks were placed
// again already. The caller holds the lock.
func (p *peer) post(s *scheduler.Dispatch) {
	if p == nil {
		return
	}
	p.delivery.Post(s)
	if p.d.record.journal != nil {
		p.waits = p.d.replica.Recorded()
	}
	signal(p.posted)
}

// durable lets go what waited for the journal. The caller holds the lock.
func (p *peer) durable(upTo int64) {
	if p == nil {
		return
	}
	if p.stop(); p.waits == 0 {
		return
	}
	if p.waits <= upTo {
		p.waits = 0
	}
	signal(p.posted)
}

// ask has the worker asked whether it is still there. The caller holds the lock.
func (p *peer) ask() {
	p.delivery.Ask()
	signal(p.posted)
}

// run makes the stream's moves, one after the other, until it is dropped.
func (p *peer) run() {
	defer p.client.Close()
	move := scheduler.Rest
	for p.ctx.Err() == nil {
		switch move {
		case scheduler.Rest:
			move = p.rest()
		case scheduler.Attach:
			move = p.attach()
		case scheduler.Enqueue:
			move = p.enqueue()
		case scheduler.Recall:
			move = p.claim()
		}
	}
}

// rest waits for a post, or until the next attempt is due.
func (p *peer) rest() scheduler.Move {
	var due <-chan time.Time
	if p.resting {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-p.posted:
	case <-due:
	case <-p.ctx.Done():
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return p.next(p.d.now())
}

func (p *peer) attach() scheduler.Move {
	reply, err := p.client.Attach(p.ctx, p.d.self)
	return p.settle(err, func(now time.Duration) scheduler.Verdict { return p.delivery.Attached(now, &reply) })
}

// claim asks what became of placements by an earlier process of this scheduler.
func (p *peer) claim() scheduler.Move {
	holdings, err := p.client.Claim(p.ctx, p.question)
	return p.settle(err, func(now time.Duration) scheduler.Verdict { return p.delivery.Told(now, holdings) })
}

func (p *peer) enqueue() scheduler.Move {
	reply, err := p.client.Enqueue(p.ctx, p.message)
	clear(p.message.Assignments) // commands may be large
	return p.settle(err, func(now time.Duration) scheduler.Verdict {
		batch := p.delivery.UnderWay()
		for i := range batch {
			if received, ok := p.d.replica.ReceivedAt(&batch[i]); ok {
				p.d.metrics.scheduling.Observe(now - received)
			}
		}
		return p.delivery.Enqueued(now, &reply)
	})
}

// settle tells the stream what came of its message, performs what follows, and returns the next move. An
// answer to a stream that was dropped meanwhile concerns nobody.
func (p *peer) settle(err error, answered func(now time.Duration) scheduler.Verdict) scheduler.Move {
	d := p.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.ctx.Err() != nil {
		return scheduler.Rest
	}
	var verdict scheduler.Verdict
	if now := d.now(); err == nil {
		verdict = answered(now)
	} else {
		verdict = p.delivery.Failed(now, failureOf(err), err)
	}
	if verdict.Trouble != nil {
		d.log.Warn("worker out of reach", "worker", p.node.Name, "address", p.node.Address, "error", verdict.Trouble)
	}
	if verdict.GivenUp {
		d.log.Warn("worker given up: its tasks are placed again", "worker", p.node.Name)
	}
	d.perform(verdict.Actions)
	return p.next(d.now())
}

// next asks the stream for its next move. The caller holds the lock.
func (p *peer) next(now time.Duration) scheduler.Move {
	if p.ctx.Err() != nil {
		return scheduler.Rest
	}
	move := p.delivery.Next(now)
	switch move {
	case scheduler.Enqueue:
		p.delivery.Message(&p.message)
	case scheduler.Recall:
		p.delivery.Question(&p.question)
	}
	p.wait, p.resting = p.delivery.Due(now)
	return move
}

// failureOf says how much an error tells about its message.
func failureOf(err error) scheduler.Failure {
	switch {
	case rpc.Refused(err):
		return scheduler.Refused
	case rpc.NotSent(err):
		return scheduler.NotSent
	case errors.Is(err, rpc.ErrTooLarge):
		return scheduler.TooLarge
	}
	return scheduler.Unanswered
}
