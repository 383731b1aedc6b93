package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"dodoor/generator"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// SubmitTask brings one task to a scheduler, with a name of its own under which its result is collected, and waits for its
// record; without waiting the record is nil, and the task is accepted. The error says why no scheduler takes it, or that it is
// lost, as an Uncertain if it may run nevertheless; when ctx ends before, a scheduler may have the task.
func (c *Cluster) SubmitTask(ctx context.Context, spec cluster.TaskSpec, wait bool) (*cluster.TaskRecord, error) {
	var ended *generator.Ending
	var record cluster.TaskRecord
	over, closed := make(chan struct{}), false
	s := session.New(session.Config{
		ClientConfig: generator.ClientConfig{Connections: 1, MaxBatch: 1, PollPause: pollPause, Brief: true, Seed: rand.Uint64()},
		Targets:      c.inTurn(spec.ID), Name: spec.ID, Listed: c.Listed, Connect: c.Join,
		News: c.News,
		Task: func(int32) cluster.TaskSpec { return spec },
		Ended: func(e *generator.Ending) {
			if ending := *e; e.Record != nil {
				record, ended = *e.Record, &ending
			} else {
				ended = &ending
			}
		},
		After: func(g *generator.Client) *generator.Actions {
			if !closed && g.Open() == 0 || !closed && !wait && g.Owed() > 0 {
				closed = true
				close(over)
			}
			return nil
		},
	}, time.Now())
	defer s.Close()
	var task int32
	s.With(func(g *generator.Client) { task = g.Expect(spec.ID, spec.AtMostOnce) })
	s.Start()
	s.Step(func(g *generator.Client, now time.Duration) *generator.Actions { return g.Submit(now, task) })
	select {
	case <-over:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var reason string
	var collected, uncertain bool
	s.With(func(*generator.Client) {
		if ended != nil {
			reason, collected, uncertain = ended.Reason, ended.Cause == generator.Collected, ended.Cause == generator.Vanished
		}
	})
	switch {
	case collected:
		return &record, nil
	case uncertain:
		return nil, Uncertain{errors.New(reason)}
	case reason != "":
		return nil, errors.New(reason)
	}
	return nil, nil
}

// Uncertain says why it is not known whether a scheduler has a task, which must not run twice.
type Uncertain struct{ error }

// Unwrap returns why.
func (u Uncertain) Unwrap() error { return u.error }
