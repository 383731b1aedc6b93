package reliability

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// client submits at a constant rate, whatever the services do, to one scheduler after the other, and to the next where one
// does not take a task. What was accepted it never submits again: whoever accepted it owes a result.
type client struct {
	name       string
	schedulers []*rpc.SchedulerClient
	start      time.Time
	calls      context.Context
	hangUp     context.CancelFunc
	work       sync.WaitGroup
	polls      sync.WaitGroup

	mu    sync.Mutex
	tasks map[string]*sent
}

// sent is a task as its client sees it; times are since the client started, 0: not yet.
type sent struct {
	due, accepted, ended time.Duration
	open                 bool // somebody may have it: a submission was not answered
	refused              int
	results              int
	outcome              cluster.Outcome
	reason               string
}

// submitWithin bounds one try, so that a client goes elsewhere within a second.
const submitWithin = 400 * time.Millisecond

func newClient(name string, e *ensemble) *client {
	c := &client{name: name, start: time.Now(), tasks: map[string]*sent{}}
	c.calls, c.hangUp = context.WithCancel(context.Background())
	cfg := rpc.Default()
	cfg.PoolSize = 64
	for _, p := range e.schedulers {
		c.schedulers = append(c.schedulers, rpc.NewSchedulerClient(p.address, cluster.Standard(), cfg))
	}
	for i := range c.schedulers {
		c.polls.Go(func() { c.collect(i) })
	}
	return c
}

func (c *client) close() {
	c.hangUp()
	c.work.Wait()
	c.polls.Wait()
	for _, s := range c.schedulers {
		s.Close()
	}
}

// load submits tasks of a duration, perSecond of them, until ctx ends.
func (c *client) load(ctx context.Context, perSecond int, duration time.Duration) {
	begin, prefix := time.Now(), fmt.Sprintf("%s-%x", c.name, time.Now().UnixNano())
	ticker := time.NewTicker(max(time.Millisecond, time.Second/time.Duration(perSecond)))
	defer ticker.Stop()
	for i := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for due := int(time.Since(begin).Seconds() * float64(perSecond)); i < due; i++ {
			id, first := fmt.Sprintf("%s-%d", prefix, i), i
			c.work.Go(func() { c.submit(id, first, duration) })
		}
	}
}

// submit offers a task to one scheduler after the other, each once.
func (c *client) submit(id string, first int, duration time.Duration) {
	t := &sent{due: time.Since(c.start)}
	c.mu.Lock()
	c.tasks[id] = t
	c.mu.Unlock()
	estimate := duration.Milliseconds()
	spec := cluster.TaskSpec{ID: id, Type: "sleep", Demand: &cluster.Resources{cluster.Cores: 1000, cluster.Memory: 64},
		Duration: &estimate, TimeScale: 1}
	for k := range c.schedulers {
		ctx, cancel := context.WithTimeout(c.calls, submitWithin)
		refused, err := c.schedulers[(first+k)%len(c.schedulers)].Submit(ctx, cluster.SubmitRequest{Client: c.name,
			Tasks: []cluster.TaskSpec{spec}})
		cancel()
		c.mu.Lock()
		switch {
		case err == nil && len(refused) == 0:
			t.accepted = time.Since(c.start)
			c.mu.Unlock()
			return
		case err != nil && cluster.CodeOf(err) == 0 && !rpc.NotSent(err):
			t.open = true
		default:
			t.refused++
		}
		c.mu.Unlock()
	}
}

// collect fetches results until the client hangs up.
func (c *client) collect(from int) {
	var q cluster.CollectRequest
	for c.calls.Err() == nil {
		q.Client, q.Max, q.Wait = c.name, 1024, time.Second
		ctx, cancel := context.WithTimeout(c.calls, 2*time.Second)
		reply, err := c.schedulers[from].Collect(ctx, q)
		cancel()
		if err != nil {
			pause(c.calls, 50*time.Millisecond)
			continue
		}
		q.After, q.Incarnation = reply.Cursor, reply.Incarnation
		now := time.Since(c.start)
		c.mu.Lock()
		for i := range reply.Records {
			if t := c.tasks[reply.Records[i].ID]; t != nil {
				if t.results++; t.results == 1 {
					t.ended, t.outcome, t.reason = now, reply.Records[i].Outcome, reply.Records[i].Reason
				}
			}
		}
		c.mu.Unlock()
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sums are a client's tasks between two moments.
type sums struct {
	offered, accepted, finished, lost, missing, refused int
	makespans                                           []time.Duration // of the finished
	gap                                                 time.Duration   // the longest time from a task's due moment to its acceptance
}

// quantile of the makespans.
func (s *sums) quantile(q float64) time.Duration {
	if len(s.makespans) == 0 {
		return 0
	}
	slices.Sort(s.makespans)
	return s.makespans[min(int(q*float64(len(s.makespans))), len(s.makespans)-1)]
}

// between counts the tasks that were due from a moment on, before another.
func (c *client) between(from, to time.Duration) (s sums) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tasks {
		if t.due < from || t.due >= to {
			continue
		}
		s.offered++
		if t.accepted == 0 {
			s.refused++
			continue
		}
		s.accepted++
		s.gap = max(s.gap, t.accepted-t.due)
		switch {
		case t.results == 0:
			s.missing++
		case t.outcome == cluster.Finished:
			s.finished++
			s.makespans = append(s.makespans, t.ended-t.due)
		default:
			s.lost++
		}
	}
	return s
}

// settled waits until every accepted task has a result, or for so long.
func (c *client) settled(limit time.Duration) {
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) && c.between(0, time.Hour).missing > 0 {
		pause(c.calls, 50*time.Millisecond)
	}
}
