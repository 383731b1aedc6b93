package sim

import (
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// trusting is a client as simple as a program gets: it submits each task in turn to the schedulers until one has taken it or may have,
// waits for the result there, and submits nothing again.
type trusting struct {
	tasks   []trusted
	byID    map[string]int32
	open    int
	memory  []int64 // of the schedulers: whose answers these are; 0: not known yet
	cursor  []generator.Cursor
	pause   time.Duration
	message []generator.Message // of every task
	actions generator.Actions
}

// trusted is a task of such a client.
type trusted struct {
	scheduler int
	state     trust
	sent      time.Duration
	due       time.Duration // of the next attempt, or of the end of all hope
}

// trust is where such a task stands.
type trust uint8

const (
	unasked trust = iota
	asking
	resting // nobody took it so far
	doubted // nobody answered: it may have been taken
	owed    // it was taken
	concluded
)

const (
	trustingRest = 200 * time.Millisecond // between two attempts, and before a poll that follows one that failed
	hope         = 25 * time.Second       // how long the result of a task may take that nobody said he has; a run that stands still ends later
)

func newTrusting(cfg generator.ClientConfig) *trusting {
	n := len(cfg.Schedulers)
	return &trusting{byID: map[string]int32{}, memory: make([]int64, n), cursor: make([]generator.Cursor, n), pause: cfg.PollPause,
		message: make([]generator.Message, cfg.Tasks)}
}

func (c *trusting) Expect(id string, _ bool) int32 {
	i := int32(len(c.tasks))
	c.tasks = append(c.tasks, trusted{scheduler: int(i) % len(c.memory), sent: generator.Never})
	c.byID[id] = i
	c.open++
	return i
}

func (c *trusting) Open() int { return c.open }

func (c *trusting) Start(now time.Duration) *generator.Actions {
	c.begin()
	for i := range c.memory {
		c.poll(i, now)
	}
	return c.finish()
}

func (c *trusting) Submit(now time.Duration, tasks ...int32) *generator.Actions {
	c.begin()
	for _, i := range tasks {
		c.ask(now, i)
	}
	return c.finish()
}

// ask sends a task to the scheduler whose turn it is.
func (c *trusting) ask(now time.Duration, i int32) {
	t := &c.tasks[i]
	t.state = asking
	if t.sent == generator.Never {
		t.sent = now
	}
	c.message[i] = generator.Message{Scheduler: t.scheduler, Tasks: []int32{i}}
	c.actions.Send = append(c.actions.Send, &c.message[i])
}

func (c *trusting) Accepted(now time.Duration, m *generator.Message, refused []cluster.Refusal) *generator.Actions {
	c.begin()
	i := m.Tasks[0]
	t := &c.tasks[i]
	switch {
	case t.state != asking:
	case len(refused) > 0 && refused[0].Code != cluster.DuplicateTask:
		c.end(i, generator.Refused, refused[0].Error(), nil)
	default:
		t.state = owed
	}
	return c.finish()
}

func (c *trusting) Failed(now time.Duration, m *generator.Message, f generator.Failure, err error) *generator.Actions {
	c.begin()
	i := m.Tasks[0]
	t := &c.tasks[i]
	switch {
	case t.state != asking:
	case f == generator.Faulty:
		c.end(i, generator.Refused, err.Error(), nil)
	case f == generator.Unanswered:
		t.state, t.due = doubted, now+hope
	default:
		t.state, t.due, t.scheduler = resting, now+trustingRest, (t.scheduler+1)%len(c.memory)
	}
	return c.finish()
}

// Collected takes results. A scheduler whose memory is another one has forgotten what it had accepted.
func (c *trusting) Collected(now time.Duration, scheduler int, reply *cluster.CollectReply) *generator.Actions {
	c.begin()
	for j := range reply.Records {
		if i, ok := c.byID[reply.Records[j].ID]; ok {
			c.end(i, generator.Collected, "", &reply.Records[j])
		}
	}
	if before := c.memory[scheduler]; before != 0 && before != reply.Incarnation {
		for i := range c.tasks {
			if t := &c.tasks[i]; t.scheduler == scheduler && (t.state == owed || t.state == doubted) {
				c.end(int32(i), generator.Abandoned, "the scheduler that had it forgot it", nil)
			}
		}
	}
	c.memory[scheduler], c.cursor[scheduler] = reply.Incarnation, generator.Cursor{After: reply.Cursor, Incarnation: reply.Incarnation}
	c.poll(scheduler, now+c.pause)
	return c.finish()
}

func (c *trusting) PollFailed(now time.Duration, scheduler int, _ generator.Failure, _ error) *generator.Actions {
	c.begin()
	c.poll(scheduler, now+trustingRest)
	return c.finish()
}

func (c *trusting) poll(scheduler int, at time.Duration) {
	next := generator.Poll{Scheduler: scheduler, At: at, Cursor: c.cursor[scheduler], Max: 64, Wait: time.Second}
	if c.memory[scheduler] == 0 {
		next.Wait = 0
	}
	c.actions.Poll = append(c.actions.Poll, next)
}

func (c *trusting) Tick(now time.Duration) *generator.Actions {
	c.begin()
	for i := range c.tasks {
		switch t := &c.tasks[i]; {
		case t.state == resting && now >= t.due:
			c.ask(now, int32(i))
		case t.state == doubted && now >= t.due:
			c.end(int32(i), generator.Abandoned, "nobody said whether it was taken, nor how it ended", nil)
		}
	}
	return c.finish()
}

func (c *trusting) Stop(now time.Duration) *generator.Actions { return c.Abandon(now, "stopped") }

func (c *trusting) Abandon(_ time.Duration, reason string) *generator.Actions {
	c.begin()
	for i := range c.tasks {
		c.end(int32(i), generator.Abandoned, reason, nil)
	}
	return c.finish()
}

// end is the only place where a task ends, once.
func (c *trusting) end(i int32, why generator.Cause, reason string, record *cluster.TaskRecord) {
	t := &c.tasks[i]
	if t.state == concluded {
		return
	}
	t.state = concluded
	c.open--
	c.actions.Ended = append(c.actions.Ended, generator.Ending{Task: i, Cause: why, Reason: reason, Record: record,
		Scheduler: cluster.SchedulerName(t.scheduler), Sent: t.sent, Taken: 1})
}

func (c *trusting) begin() {
	a := &c.actions
	a.Send, a.Poll, a.Ended, a.Wake = a.Send[:0], a.Poll[:0], a.Ended[:0], generator.Never
}

func (c *trusting) finish() *generator.Actions {
	for i := range c.tasks {
		if t := &c.tasks[i]; (t.state == resting || t.state == doubted) && (c.actions.Wake == generator.Never || t.due < c.actions.Wake) {
			c.actions.Wake = t.due
		}
	}
	return &c.actions
}
