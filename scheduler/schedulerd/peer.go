package schedulerd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/scheduler"
)

// peer is the ordered stream to one worker process: one goroutine, one enqueue at a time, so that
// placements arrive in the order of their numbers.
type peer struct {
	d      *Daemon
	index  int
	node   cluster.Node
	client *rpc.WorkerClient
	sender *rpc.Sender[scheduler.Dispatch]
	ctx    context.Context
	close  context.CancelFunc

	attached  bool
	attempted int64 // highest number that may have reached the worker
	givenUp   int64 // placements up to this number were placed elsewhere
}

// connectPeer opens the stream to the process that now owns a node index. The caller holds the lock.
func (d *Daemon) connectPeer(index int) {
	for len(d.peers) <= index {
		d.peers = append(d.peers, nil)
	}
	d.dropPeer(index)
	p := &peer{d: d, index: index, node: d.replica.Node(index)}
	p.ctx, p.close = context.WithCancel(d.running)
	p.client = rpc.NewWorkerClient(p.node.Address, d.cfg.Replica.Dimensions, d.cfg.RPC)
	p.sender = rpc.NewSender(d.cfg.MaxBatch, 0, p.send)
	d.peers[index] = p
}

// dropPeer closes a stream; what it had not sent belongs to tasks that the replica placed again. The
// caller holds the lock, so the waiting is left to another goroutine.
func (d *Daemon) dropPeer(index int) {
	p := d.peers[index]
	if p == nil {
		return
	}
	d.peers[index] = nil
	p.close()
	d.work.Go(func() {
		p.sender.Close(p.ctx)
		p.client.Close()
	})
}

func (d *Daemon) closePeers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.peers {
		d.dropPeer(i)
	}
}

// post queues a placement. A node that left in the meantime has no stream, and its tasks were placed
// again already; so were those of a stream that is closing.
func (p *peer) post(s scheduler.Dispatch) {
	if p != nil {
		_ = p.sender.Post(s)
	}
}

// send delivers a batch of placements. It returns when the worker has answered, or when the replica
// has placed the batch elsewhere.
func (p *peer) send(ctx context.Context, batch []scheduler.Dispatch) {
	var failing time.Time // since when the worker is out of reach
	down := false         // the replica has given it up
	for backoff := firstBackoff; ctx.Err() == nil; backoff = min(2*backoff, lastBackoff) {
		batch = p.outstanding(batch)
		if len(batch) == 0 && failing.IsZero() {
			return
		}
		err := p.try(ctx, batch)
		if err == nil || ctx.Err() != nil {
			return
		}
		if failing.IsZero() {
			failing = time.Now()
			p.d.log.Warn("worker out of reach", "worker", p.node.Name, "address", p.node.Address, "error", err)
			p.d.suspect(p)
		}
		if !down && (rpc.Refused(err) || errors.Is(err, errOtherWorker) || time.Since(failing) >= p.d.cfg.NodeGrace) {
			p.d.nodeDown(p)
			down = true
		}
		rest(ctx, backoff)
	}
}

const (
	firstBackoff = 10 * time.Millisecond
	lastBackoff  = time.Second
)

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// outstanding drops placements that were given up.
func (p *peer) outstanding(batch []scheduler.Dispatch) []scheduler.Dispatch {
	kept := batch[:0]
	for _, s := range batch {
		if s.Assignment.Number > p.givenUp || s.Assignment.TaskID == "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// errOtherWorker: the address belongs to another worker now.
var errOtherWorker = errors.New("another worker answers at this address")

// try attaches if need be and enqueues the batch once.
func (p *peer) try(ctx context.Context, batch []scheduler.Dispatch) error {
	ctx, cancel := context.WithTimeout(ctx, p.d.patience())
	defer cancel()
	if !p.attached {
		reply, err := p.client.Attach(ctx, p.d.self)
		if err != nil {
			return err
		}
		if reply.Report.Node != p.node.Name {
			return fmt.Errorf("%w: %s", errOtherWorker, reply.Report.Node)
		}
		p.d.attached(p, &reply)
		p.attached = true
		if reply.Incarnation != p.node.Incarnation {
			return nil // another process: the replica has opened a new stream to it
		}
	}
	if batch = p.outstanding(batch); len(batch) == 0 {
		return nil
	}
	return p.enqueue(ctx, batch)
}

// enqueue sends one message, or two halves of what is too large for one.
func (p *peer) enqueue(ctx context.Context, batch []scheduler.Dispatch) error {
	last := &batch[len(batch)-1]
	before := p.attempted
	p.attempted = last.Assignment.Number
	reply, err := p.client.Enqueue(ctx, p.message(batch, last))
	if rpc.NotSent(err) {
		p.attempted = before
	}
	switch code := cluster.CodeOf(err); {
	case errors.Is(err, rpc.ErrTooLarge) && len(batch) > 1:
		half := len(batch) / 2
		if err := p.enqueue(ctx, batch[:half]); err != nil {
			return err
		}
		return p.enqueue(ctx, batch[half:])
	case errors.Is(err, rpc.ErrTooLarge):
		reply = refuseAll(batch, err)
	case code == cluster.Stale || code == cluster.UnknownScheduler || err != nil && code == 0:
		p.attached = false
		return err
	case err != nil:
		reply = refuseAll(batch, err)
	}
	p.d.acknowledged(batch, &reply)
	return nil
}

func (p *peer) message(batch []scheduler.Dispatch, last *scheduler.Dispatch) cluster.Enqueue {
	m := cluster.Enqueue{Scheduler: p.d.self, NodeIncarnation: p.node.Incarnation,
		Number: last.Assignment.Number, Placed: last.Placed, Assignments: make([]cluster.Assignment, 0, len(batch))}
	for i := range batch {
		if batch[i].Assignment.TaskID != "" {
			m.Assignments = append(m.Assignments, batch[i].Assignment)
		}
	}
	return m
}

// refuseAll stands for a worker that rejects a whole message: every placement tries its next candidate.
func refuseAll(batch []scheduler.Dispatch, err error) cluster.EnqueueReply {
	var reply cluster.EnqueueReply
	for i := range batch {
		a := &batch[i].Assignment
		reply.Refused = append(reply.Refused, cluster.Refusal{TaskID: a.TaskID, Number: a.Number, Code: cluster.InvalidTask, Message: err.Error()})
	}
	return reply
}

// The replica's verbs for one worker, each under the lock.

func (d *Daemon) attached(p *peer, reply *cluster.AttachReply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.carryOut(d.replica.Attached(d.now(), p.index, p.node.Name, reply))
}

func (d *Daemon) suspect(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replica.Suspect(p.index, p.node.Incarnation)
}

func (d *Daemon) nodeDown(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.givenUp = d.replica.LastNumber(p.index, p.node.Incarnation)
	d.log.Warn("worker given up: its tasks are placed again", "worker", p.node.Name)
	d.carryOut(d.replica.NodeDown(d.now(), p.index, p.node.Incarnation, p.attempted))
}

func (d *Daemon) acknowledged(batch []scheduler.Dispatch, reply *cluster.EnqueueReply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for i := range batch {
		if received, ok := d.replica.ReceivedAt(&batch[i]); ok {
			d.metrics.scheduling.Observe(now - received)
		}
	}
	d.carryOut(d.replica.Acknowledged(now, batch, reply))
}
