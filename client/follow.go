package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dodoor/internal/cluster"
)

// Unknown is how much a task printed that has not ended.
const Unknown = -1

// FollowTask writes what a task prints until it has ended: the newest attempt and those after it, or one attempt alone. That a
// worker went away with its output is told to trouble when the task may run again; otherwise it is the error.
func (c *Cluster) FollowTask(ctx context.Context, id string, index int64, attempt int, sink Sink, trouble func(error)) error {
	followed := 0 // attempts
	var silent time.Time
	for {
		t, err := c.Task(ctx, id, index)
		switch {
		case err == nil:
			silent = time.Time{}
		case errors.Is(err, errUnknownTask) || ctx.Err() != nil || !silent.IsZero() && time.Since(silent) > patience:
			return err
		case silent.IsZero():
			silent = time.Now()
		}
		switch {
		case err != nil:
			pause(ctx, followPause)
		case t.Worker != "" && t.Attempts > followed && (t.Outcome == cluster.NoOutcome || t.Printed > 0):
			followed = t.Attempts
			p := &Printed{Position: index, Output: Output{Worker: t.Worker, TaskID: t.ID, Attempt: attempt}, Bytes: Unknown}
			switch err := c.follow(ctx, p, sink); {
			case err == nil && attempt == 0:
			case attempt == 0 && t.Outcome == cluster.NoOutcome && errors.As(err, &awayError{}):
				trouble(err)
			default:
				return err
			}
		case t.Outcome != cluster.NoOutcome:
			return nil
		case !pause(ctx, followPause):
			return context.Cause(ctx)
		}
	}
}

// followPause is between two questions whether a task has begun, or ended.
const followPause = 200 * time.Millisecond

// follow writes both streams of an attempt as they grow.
func (c *Cluster) follow(ctx context.Context, p *Printed, sink Sink) error {
	if err := sink.Begin(p); err != nil {
		return writeError{err}
	}
	var mu sync.Mutex // of the sink
	var errs [2]error
	var streams sync.WaitGroup
	for k := range errs {
		streams.Go(func() { errs[k] = c.Follow(ctx, p.Output, k == 1, &locked{&mu, half{sink, k == 1}}) })
	}
	streams.Wait()
	if errs[0] != nil && errs[1] != nil && errs[0].Error() == errs[1].Error() {
		errs[1] = nil // the same of both streams
	}
	return errors.Join(errs[0], errs[1], sink.End())
}

// locked is one of two halves that take turns.
type locked struct {
	mu *sync.Mutex
	half
}

func (l *locked) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.half.Write(data)
}

// Find returns the worker that has the output of an attempt: the one that is named, if one is, or any other.
func (c *Cluster) Find(ctx context.Context, o Output) (string, error) {
	first := errUnknownTask
	if o.Worker != "" {
		if _, first = c.read(ctx, o, false, 0, 1, 0); first == nil {
			return o.Worker, nil
		}
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return "", err
	}
	c.note(nodes)
	for i := range nodes {
		if o.Worker = nodes[i].Node.Name; ctx.Err() == nil {
			if _, err := c.read(ctx, o, false, 0, 1, 0); err == nil {
				return o.Worker, nil
			}
		}
	}
	if o.Attempt == 0 {
		return "", fmt.Errorf("no worker has output of it: %w", first)
	}
	return "", fmt.Errorf("no worker has attempt %d: %w", o.Attempt, first)
}
