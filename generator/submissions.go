package generator

import (
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Failure is why a message or a poll failed, and how surely it did not arrive.
type Failure uint8

const (
	Gone       Failure = iota // nobody listens: the process is gone, and it did not arrive
	NotSent                   // no connection could be made: it did not arrive
	Unanswered                // it may have arrived
	Draining                  // the answer of a scheduler that takes nothing any more
	Overloaded                // of one that takes nothing for the moment
	Replaced                  // the answer of another memory than the one it was for: that took nothing
	Faulty                    // the message's own fault, or one of its tasks'
)

// FailureOf is the failure that an error of a service declares; 0 stands for no answer.
func FailureOf(code cluster.ErrorCode) Failure {
	switch code {
	case 0:
		return Unanswered
	case cluster.Draining:
		return Draining
	case cluster.Overloaded:
		return Overloaded
	case cluster.Stale:
		return Replaced
	}
	return Faulty
}

// post sends what waits for a scheduler, as far as its connections go.
func (c *Client) post(p *replica) {
	for c.cfg.Connections == 0 || p.messages < c.cfg.Connections {
		m := c.load(p)
		if m == nil {
			return
		}
		p.messages++
		c.actions.Send = append(c.actions.Send, m)
	}
}

// load fills a message with as many tasks as it may carry; nil: none waits.
func (c *Client) load(p *replica) (m *Message) {
	for p.line.len() > 0 && (m == nil || len(m.Tasks) < c.cfg.MaxBatch) {
		i := p.line.head()
		t := &c.tasks[i]
		if t.state != queued || t.scheduler != p.index { // it ended while it waited
			p.line.pop()
			continue
		}
		if m != nil && (t.alone || t.once != (m.Incarnation != 0)) {
			break
		}
		if m == nil {
			m = c.spare.Take()
			*m = Message{Scheduler: int(p.index), Tasks: m.Tasks[:0], losses: p.losses}
			if t.once {
				m.Incarnation = p.cursor.Incarnation
			}
		}
		m.Whole = m.Whole || t.whole
		p.line.pop()
		m.Tasks = append(m.Tasks, i)
		t.state = sending
		t.submissions++
		if t.sent == Never {
			t.sent = c.now
			c.byID[t.id] = i
		}
		if t.alone {
			break
		}
	}
	return m
}

// Accepted takes the answer to a message: all of its tasks are accepted but for those refused. A
// scheduler that already has a task of ours, from a message that seemed lost, owes its result as if it had
// just accepted it. One that does not know a template gets the task once more, with it. When the scheduler was gone since
// the message was posted, the process that answered may be no more: its tasks are submitted again.
func (c *Client) Accepted(now time.Duration, m *Message, refused []cluster.Refusal) *Actions {
	c.begin(now)
	p := &c.schedulers[m.Scheduler]
	c.recovered(p)
	for j := range refused {
		i, ok := c.byID[refused[j].TaskID]
		if !ok || !c.under(i, m) {
			continue
		}
		t, code := &c.tasks[i], refused[j].Code
		switch {
		case code == cluster.DuplicateTask && c.doubtful[attempt{i, p.index}]:
			continue
		case code == cluster.UnknownTemplate && !t.whole:
			t.whole = true
			t.submissions--
			c.dispatch(i, p.index)
		default:
			t.submissions--
			c.end(i, Refused, refused[j].Error(), nil)
		}
	}
	for _, i := range m.Tasks {
		if c.under(i, m) {
			c.take(i, p, m)
		}
	}
	c.release(m)
	return c.finish()
}

// take takes note that a scheduler accepted a task.
func (c *Client) take(i int32, p *replica, m *Message) {
	t := &c.tasks[i]
	switch {
	case t.once && m.Incarnation != p.cursor.Incarnation:
		c.vanish(i, fmt.Sprintf("scheduler %s had it, and has restarted", p.ref.Name))
		return
	case t.once, m.losses == p.losses:
	default:
		c.suspect(i, p)
		t.state = queued
		c.dispatch(i, p.index)
		return
	}
	t.state = accepted
	p.owes++
}

// Failed takes note that a message was not answered, or with an error. One whose fate is open is
// repeated once: ids make that harmless, and a scheduler that only lost a connection keeps its tasks.
func (c *Client) Failed(now time.Duration, m *Message, f Failure, err error) *Actions {
	c.begin(now)
	p := &c.schedulers[m.Scheduler]
	carried := len(m.Tasks)
	m.Tasks = slices.DeleteFunc(m.Tasks, func(i int32) bool { return !c.under(i, m) }) // a result came before the answer
	if f == Unanswered && !m.repeated && !p.down {
		return c.repeat(p, m)
	}
	for _, i := range m.Tasks {
		if f == Unanswered || f == Faulty && c.tasks[i].once {
			c.suspect(i, p)
		}
		if f != Unanswered && !m.repeated {
			c.tasks[i].submissions-- // nobody took it
		}
	}
	next := p.index + 1
	switch f {
	case Draining:
		c.rest(p, err, drainRest)
		c.set(p, standing{down: p.down, draining: true, left: p.left})
	case Overloaded:
		c.rest(p, err, overloadRest)
	case Replaced:
		p.replaced = true
	case Faulty:
		next = p.index
		for _, i := range m.Tasks {
			c.tasks[i].alone = true // one of them must not take the others down with it
			if carried == 1 {
				c.end(i, Refused, err.Error(), nil)
			}
		}
	default:
		c.lose(p, f, err)
	}
	for _, i := range m.Tasks {
		switch {
		case !c.under(i, m):
		case c.tasks[i].bound() && (f == Replaced || m.Incarnation != p.cursor.Incarnation):
			c.vanish(i, fmt.Sprintf("scheduler %s may have had it, and has restarted", p.ref.Name))
		default:
			c.dispatch(i, next)
		}
	}
	c.release(m)
	return c.finish()
}

// repeat sends a message again that may have arrived.
func (c *Client) repeat(p *replica, m *Message) *Actions {
	if len(m.Tasks) == 0 {
		c.release(m)
		return c.finish()
	}
	m.repeated, m.losses = true, p.losses
	for _, i := range m.Tasks {
		c.suspect(i, p)
	}
	c.actions.Send = append(c.actions.Send, m)
	return c.finish()
}

// under reports whether a task waits for the answer to a message.
func (c *Client) under(i int32, m *Message) bool {
	return c.tasks[i].state == sending && c.tasks[i].scheduler == int32(m.Scheduler)
}

// release has a message's connection free for the next one.
func (c *Client) release(m *Message) {
	p := &c.schedulers[m.Scheduler]
	p.messages--
	c.changed(p)
	c.spare.Put(m)
}
