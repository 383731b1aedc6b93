package nemesis

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"dodoor/chaos"
	"dodoor/generator"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// spec is a task as a scheduler is told of it.
func (c *client) spec(id string) cluster.TaskSpec {
	t := c.tasks[id]
	milliseconds := t.Takes.Milliseconds()
	template := &cluster.Template{Argv: append(append([]string{}, c.Argv...), strconv.FormatInt(milliseconds, 10), strconv.Itoa(t.Exit))}
	return cluster.TaskSpec{ID: id, Type: cluster.CommandType, AtMostOnce: t.AtMostOnce, TimeScale: 1, Duration: &milliseconds,
		Demand:  &cluster.Resources{cluster.Cores: t.Cores, cluster.Memory: t.Memory},
		Command: &cluster.Command{Digest: template.Digest(), Template: template}}
}

// submit brings tasks to their ends as every client of the project does: the library decides what is submitted again, and where.
func (c *client) submit(tasks []*chaos.Task) {
	if len(tasks) == 0 {
		return
	}
	over, open := make(chan struct{}), len(tasks)
	s := session.New(session.Config{Targets: c.targets, Name: c.Client.Name,
		ClientConfig: generator.ClientConfig{Tasks: len(tasks), Connections: 4, MaxBatch: 16, PollPause: generator.PollPause,
			Seed: c.Scenario.Seed, Patience: c.Scenario.Shape.Span + c.Scenario.Quiet},
		Task: func(i int32) cluster.TaskSpec { return c.spec(tasks[i].ID) },
		Ended: func(e *generator.Ending) {
			if e.Record == nil {
				c.tell(chaos.Record{Kind: chaos.Missed, Task: tasks[e.Task].ID, Reason: e.Reason})
			}
			if open--; open == 0 {
				close(over)
			}
		},
		News: func(n *generator.News) { slog.Info(string(n.What), "scheduler", n.Scheduler, "error", n.Err) }}, time.Now())
	defer s.Close()
	s.With(func(library *generator.Client) {
		for _, t := range tasks {
			library.Expect(t.ID, t.AtMostOnce)
		}
	})
	s.Start()
	for i, t := range tasks {
		if !pause(c.deadline, t.At-c.now()) {
			break
		}
		s.Step(func(library *generator.Client, now time.Duration) *generator.Actions {
			return library.Submit(now, int32(i))
		})
	}
	select {
	case <-over:
	case <-c.deadline.Done():
		s.Step(func(library *generator.Client, now time.Duration) *generator.Actions {
			return library.Abandon(now, "its end did not come in time")
		})
	}
}

// miss tells of tasks whose ends nobody told.
func (c *client) miss(tasks []*chaos.Task, reason string) {
	for _, t := range tasks {
		c.mu.Lock()
		ended := c.ended[t.ID]
		c.mu.Unlock()
		if !ended {
			c.tell(chaos.Record{Kind: chaos.Missed, Task: t.ID, Reason: reason})
		}
	}
}

// submitOnce submits each task to one scheduler, once, and waits for what it tells.
func (c *client) submitOnce(tasks []*chaos.Task) {
	var all, collecting sync.WaitGroup
	name := c.Client.Name + "-once"
	ctx, cancel := context.WithCancel(c.deadline)
	debts := make([]*debt, len(c.targets))
	for i := range c.targets {
		debts[i] = &debt{owed: map[string]bool{}, paid: make(chan struct{}, 1)}
		collecting.Go(func() { debts[i].collect(ctx, &c.targets[i], name, c.Tempo.Call) })
	}
	for i, t := range tasks {
		if !pause(c.deadline, t.At-c.now()) {
			break
		}
		target, d := &c.targets[i%len(c.targets)], debts[i%len(debts)]
		all.Go(func() {
			d.owe(t.ID)
			refused, err := target.Service.Submit(c.deadline, cluster.SubmitRequest{Client: name, Tasks: []cluster.TaskSpec{{ID: t.ID}}})
			if err != nil || len(refused) > 0 {
				d.pay(t.ID)
			}
		})
	}
	all.Wait()
	for _, d := range debts {
		d.wait(c.deadline)
	}
	cancel()
	collecting.Wait()
	c.miss(tasks, "its scheduler told nothing of it, or forgot it")
}

// debt is what one scheduler owes of the tasks that are submitted once.
type debt struct {
	mu   sync.Mutex
	owed map[string]bool
	paid chan struct{}
}

func (d *debt) owe(task string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owed[task] = true
}

func (d *debt) pay(tasks ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, task := range tasks {
		delete(d.owed, task)
	}
	d.tell()
}

// forget is for a scheduler that has another memory: it knows nothing of what it had accepted.
func (d *debt) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.owed)
	d.tell()
}

func (d *debt) tell() {
	select {
	case d.paid <- struct{}{}:
	default:
	}
}

// wait returns when nothing is owed any more.
func (d *debt) wait(ctx context.Context) {
	for {
		d.mu.Lock()
		owed := len(d.owed)
		d.mu.Unlock()
		if owed == 0 {
			return
		}
		select {
		case <-d.paid:
		case <-ctx.Done():
			return
		}
	}
}

// collect fetches results until ctx ends, and acknowledges them.
func (d *debt) collect(ctx context.Context, target *session.Target, name string, patience time.Duration) {
	request := cluster.CollectRequest{Client: name, Max: 100, Wait: patience}
	for ctx.Err() == nil {
		reply, err := target.Service.Collect(ctx, request)
		if err != nil {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		if request.Incarnation != 0 && request.Incarnation != reply.Incarnation {
			d.forget()
		}
		for i := range reply.Records {
			d.pay(reply.Records[i].ID)
		}
		request.After, request.Incarnation = reply.Cursor, reply.Incarnation
	}
	last, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request.Wait = 0
	if _, err := target.Service.Collect(last, request); err != nil {
		fmt.Fprintf(os.Stderr, "%s: the last results are not acknowledged: %v\n", target.Name, err)
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
