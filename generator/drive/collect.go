package drive

import (
	"context"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

const (
	pollWait   = 2 * time.Second        // the scheduler holds a poll so long when nothing ended
	pollMax    = 1024                   // records in one reply
	pollPause  = 20 * time.Millisecond  // between polls, so that records gather
	retryPause = 200 * time.Millisecond // after a poll that failed
	ackTimeout = time.Second
)

// collect fetches the results of one scheduler until the run is over. It also notices when the
// scheduler stops answering, answers again, or has forgotten everything.
func (p *peer) collect(ctx context.Context) {
	var cursor, incarnation int64
	pause := time.NewTimer(0)
	defer pause.Stop()
	for failures := 0; ; {
		select {
		case <-pause.C:
		case <-ctx.Done():
			p.acknowledge(cursor)
			return
		}
		request := cluster.CollectRequest{Client: p.run.cfg.Client, After: cursor, Max: pollMax, Wait: pollWait}
		if failures > 0 || incarnation == 0 {
			request.Wait = 0 // is it back? And first of all: which process is it?
		}
		reply, err := p.Service.Collect(ctx, request)
		if err != nil {
			failures++
			p.missed(ctx, err, failures)
			// From the beginning: if another process answers next, a cursor of this one would
			// acknowledge records that nobody has read.
			cursor = 0
			pause.Reset(retryPause)
			continue
		}
		failures = 0
		p.answered(incarnation != 0 && reply.Incarnation != incarnation)
		p.run.finish(reply.Records)
		cursor, incarnation = reply.Cursor, reply.Incarnation
		pause.Reset(pollPause)
	}
}

// missed counts one failed poll. A declared error is an answer; a refused connection is final, and
// anything else gets a second chance.
func (p *peer) missed(ctx context.Context, err error, failures int) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if !unanswered(err) {
		p.run.cfg.Log.Warn("results cannot be fetched", "scheduler", p.Name, "error", err)
		return
	}
	if failures > 1 || rpc.Refused(err) {
		p.lose(err)
	}
}

// answered takes note of a poll's reply. A scheduler that restarted has forgotten what it accepted,
// so those tasks are submitted again; it says so itself if it holds one after all.
func (p *peer) answered(restarted bool) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	if restarted {
		p.run.cfg.Log.Warn("a scheduler restarted: its tasks are submitted again", "scheduler", p.Name)
		p.run.redispatch(p, true)
	}
	if p.down {
		p.recovered()
	}
}

// acknowledge lets the scheduler forget the last records.
func (p *peer) acknowledge(cursor int64) {
	p.run.mu.Lock()
	down := p.down
	p.run.mu.Unlock()
	if cursor == 0 || down {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
	defer cancel()
	if _, err := p.Service.Collect(ctx, cluster.CollectRequest{Client: p.run.cfg.Client, After: cursor, Max: 1}); err != nil {
		p.run.cfg.Log.Debug("the last results were not acknowledged", "scheduler", p.Name, "error", err)
	}
}

// sample writes the state of every node once per interval, as the data service last heard it.
func (r *run) sample(ctx context.Context) {
	ticker := time.NewTicker(r.cfg.SampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		call, cancel := context.WithTimeout(ctx, r.cfg.SampleEvery)
		status, err := r.cfg.Data.Status(call)
		cancel()
		if err != nil {
			continue // a gap in nodes.csv; the tasks do not depend on it
		}
		now := r.now()
		for i := range status.Nodes {
			if err := r.writeSample(&status.Nodes[i], now); err != nil {
				r.cfg.Log.Warn("node samples end here", "error", err)
				return
			}
		}
	}
}

func (r *run) writeSample(n *cluster.NodeStatus, now time.Duration) error {
	if n.Report == nil {
		return nil
	}
	return r.dir.Samples.Write(&generator.NodeSample{
		Time: now, Worker: n.Node.Name, Class: n.Node.Class,
		Cores: n.Report.RunningDemand[cluster.Cores], Memory: n.Report.RunningDemand[cluster.Memory],
		Queued: n.Report.Queued, Running: n.Report.Running,
	})
}
