package generator

import (
	"fmt"
	"slices"
	"time"
)

// silence is how long a scheduler that does not answer is waited for where that matters: then tasks that one that keeps
// what it accepts has, and that may run twice, are submitted elsewhere by their ids, and tasks that must not run twice
// are lost with one that does not keep them, and a brief client's with any that has not said that it accepted them.
const silence = time.Minute

// memory is what a client knows of what a scheduler remembers. Whether a task that must not run twice can have run is
// a question to the memory that it was submitted to: another one knows nothing of it.
type memory struct {
	keeps    bool          // what it accepted survives its process
	replaced bool          // another memory answered than the one of the cursor, which the next poll tells
	dead     bool          // nobody listens there any more
	until    time.Duration // when its silence is long enough; Never: what follows from that is done
	buried   bool          // what must not run twice and was there has ended
	held     []int32       // tasks that it may have, to be asked about
}

// known reports whether a message can name the memory that it is for.
func (p *replica) known() bool { return p.cursor.Incarnation != 0 && !p.replaced }

// hold keeps a task for its scheduler until that can be asked.
func (c *Client) hold(i int32) {
	t := &c.tasks[i]
	p := &c.schedulers[t.scheduler]
	t.state = held
	p.held = append(p.held, i)
	p.buried = false
}

// ask queues the tasks that schedulers may have: submitted again under its id, a task is a duplicate where it is.
func (c *Client) ask() {
	if !c.risky {
		return
	}
	for s := range c.schedulers {
		p := &c.schedulers[s]
		if len(p.held) == 0 || !p.known() || !p.hears(c.now) {
			continue
		}
		for _, i := range p.held {
			if t := &c.tasks[i]; t.state == held {
				t.state = queued
				p.line.push(i)
			}
		}
		p.held = p.held[:0]
		c.changed(p)
	}
}

// asks reports whether there are tasks that a scheduler is still to be asked about.
func (c *Client) asks(p *replica) bool {
	return p.line.len() > 0 || slices.ContainsFunc(p.held, func(i int32) bool { return c.tasks[i].state == held })
}

// giveUpSilent draws the consequences of a silence that is long enough.
func (c *Client) giveUpSilent() {
	if c.away == 0 {
		return
	}
	for s := range c.schedulers {
		p := &c.schedulers[s]
		late := p.until != Never && c.now >= p.until
		switch {
		case !p.down:
		case p.keeps && late:
			if c.cfg.Brief {
				c.doubt(p)
			}
			c.moveAway(p)
		case !p.keeps && !p.buried && (p.dead || late):
			c.bury(p, fmt.Sprintf("scheduler %s, which had it, is gone (%v)", p.ref.Name, p.trouble))
		}
	}
}

// moveAway submits elsewhere what a scheduler keeps and may run twice, if anybody takes it.
func (c *Client) moveAway(p *replica) {
	if !c.anyTakes(false) {
		return
	}
	p.until = Never
	c.report(p, Silent, p.trouble)
	for i := range c.tasks {
		if t := &c.tasks[i]; t.state == accepted && t.scheduler == p.index && !t.once {
			c.suspect(int32(i), p)
			c.dispatch(int32(i), p.index+1)
		}
	}
}

// doubt ends what must not run twice and a silent scheduler may have kept without an answer.
func (c *Client) doubt(p *replica) {
	for _, i := range p.held {
		if c.tasks[i].state == held {
			c.end(i, Vanished, fmt.Sprintf("scheduler %s does not answer for %v (%v), and may have it: it may run, and must not run twice",
				p.ref.Name, silence, p.trouble), nil)
		}
	}
	p.held = p.held[:0]
}

// bury ends what must not run twice and may have run where nobody remembers it.
func (c *Client) bury(p *replica, why string) {
	p.buried = true
	if !c.risky {
		return
	}
	for i := range c.tasks {
		t := &c.tasks[i]
		if t.scheduler == p.index && (t.state == accepted && t.once || t.bound() && (t.state == held || t.state == queued)) {
			c.vanish(int32(i), why)
		}
	}
}

// vanish ends a task that must not run twice and may have run.
func (c *Client) vanish(i int32, why string) {
	c.end(i, Vanished, why+": it may have run, and must not run twice", nil)
}

// kept has a task that no scheduler takes wait for the one that keeps it, if there is one.
func (c *Client) kept(i int32) bool {
	if !c.tasks[i].doubted {
		return false
	}
	for s := range c.schedulers {
		if p := &c.schedulers[s]; p.keeps && !p.dropped && c.doubtful[attempt{i, p.index}] {
			c.tasks[i].state, c.tasks[i].scheduler = accepted, p.index
			p.owes++
			if p.until == Never { // it moves away again when somebody takes it
				p.until = c.now
			}
			return true
		}
	}
	return false
}

// wake is when a scheduler's silence is long enough for something to follow.
func (p *replica) wake(c *Client) time.Duration {
	if p.down && p.until > c.now && (p.keeps && (p.owes > 0 || c.cfg.Brief && len(p.held) > 0) || !p.keeps && !p.buried && c.risky) {
		return p.until
	}
	return Never
}
