package generator

import (
	"cmp"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// How long a scheduler that takes nothing rests where it does not say how long.
const (
	drainRest    = time.Second
	overloadRest = 100 * time.Millisecond
	mostRest     = 30 * time.Second // whatever it says
)

// replica is one scheduler as its client sees it.
type replica struct {
	standing
	ref       cluster.SchedulerRef
	index     int32
	line      line          // due tasks that wait for a connection
	messages  int           // under way
	owes      int           // results of tasks that it accepted
	stale     bool          // in Client.stale
	missing   time.Duration // from the lists, since then; Never: it is listed
	dropped   bool          // left, and there is no connection any more
	restUntil time.Duration // takes nothing before
	trouble   error         // why the last call failed
	losses    int           // how often it was gone, with all that it had
	memory

	failures int    // polls in a row
	cursor   Cursor // of the results
}

// standing is what keeps a scheduler from taking tasks, until further notice.
type standing struct {
	down     bool // does not answer
	draining bool // answers, and takes nothing
	left     bool // is not registered any more
}

// takes reports whether the submission of a task has a chance. One that must not run twice is for a memory that is known.
func (p *replica) takes(now time.Duration, once bool) bool {
	return !p.left && p.hears(now) && (!once || p.known())
}

// hears reports whether a scheduler can be asked for something now.
func (p *replica) hears(now time.Duration) bool { return !p.down && now >= p.restUntil }

// preferred is the scheduler of a task's first submission: in turn, or with a share that goes to the first.
func (c *Client) preferred(i int32) int32 {
	n, skew := int32(len(c.members)), c.cfg.Skew
	if n == 0 {
		return 0 // nobody is registered, and the task waits for whoever is first
	}
	if skew == 0 || n == 1 {
		return c.members[i%n]
	}
	first := func(k int32) int32 { return int32(float64(k) * skew) } // of the first k tasks, how many go to the first scheduler
	if first(i+1) > first(i) {
		return c.members[0]
	}
	return c.members[1+(i-first(i))%(n-1)]
}

// dispatch queues a task at the first scheduler from the preferred one on that takes tasks.
func (c *Client) dispatch(i, preferred int32) {
	t, n := &c.tasks[i], int32(len(c.schedulers))
	c.forgive(t)
	if t.bound() {
		c.hold(i)
		return
	}
	t.state = queued
	for k := range n {
		p := &c.schedulers[(preferred+k)%n]
		if p.takes(c.now, t.once) {
			t.scheduler = p.index
			p.line.push(i)
			c.changed(p)
			return
		}
	}
	t.scheduler = nobody
	c.unassigned = append(c.unassigned, i)
}

// changed notes that a scheduler's line or connections allow another message, maybe.
func (c *Client) changed(p *replica) {
	if !p.stale {
		p.stale = true
		c.stale = append(c.stale, p.index)
	}
}

// adopt queues the tasks that no scheduler took, once one does.
func (c *Client) adopt() {
	c.ask()
	if len(c.unassigned) == 0 || !c.anyTakes(false) {
		return
	}
	if !c.anyTakes(true) && !slices.ContainsFunc(c.unassigned, func(i int32) bool { return !c.tasks[i].once }) {
		return
	}
	waiting := c.unassigned
	c.unassigned = nil
	for _, i := range waiting {
		if t := &c.tasks[i]; t.state == queued && t.scheduler == nobody {
			c.dispatch(i, c.preferred(i))
		}
	}
	if c.unassigned == nil {
		c.unassigned = waiting[:0]
	}
}

// anyTakes reports whether the submission of a task has a chance somewhere.
func (c *Client) anyTakes(once bool) bool {
	return slices.ContainsFunc(c.schedulers, func(p replica) bool { return p.takes(c.now, once) })
}

// rest leaves a scheduler alone for as long as it wants, or a usual time, and up to half as long again: its clients do not
// come back together. What waits for it goes elsewhere.
func (c *Client) rest(p *replica, err error, usual time.Duration) {
	d := cmp.Or(min(cluster.AfterOf(err), mostRest), usual)
	p.trouble, p.restUntil = err, c.now+d+time.Duration(c.rng.Int64N(int64(d/2)+1))
	c.redispatch(p, false)
}

// lose takes note that a scheduler does not answer; what it had goes elsewhere, but for what it keeps.
func (c *Client) lose(p *replica, f Failure, err error) {
	p.trouble = err
	if !p.down {
		c.report(p, map[bool]Change{false: Silent, true: Waited}[p.keeps], err)
		c.set(p, standing{down: true, draining: p.draining, left: p.left})
		p.until = c.now + silence
		if p.messages > 0 {
			c.actions.Cut = append(c.actions.Cut, int(p.index))
		}
		c.redispatch(p, !p.keeps)
	}
	if f == Gone && p.known() {
		p.dead = true
	}
}

// recovered takes note that a scheduler takes tasks, or answers again.
func (c *Client) recovered(p *replica) {
	if p.down {
		c.report(p, Back, nil)
	}
	c.set(p, standing{left: p.left})
	p.restUntil, p.dead, p.buried = 0, false, false
}

// set changes what is known of a scheduler, and with it how many are away.
func (c *Client) set(p *replica, s standing) {
	before, after := p.standing != standing{}, s != standing{}
	if before && !after {
		c.away--
	} else if after && !before {
		c.away++
	}
	p.standing = s
}

// forgive notes that nobody owes the result of a task any more.
func (c *Client) forgive(t *clientTask) {
	if t.state == accepted {
		c.schedulers[t.scheduler].owes--
	}
}

// redispatch sends the tasks that a scheduler had elsewhere: those in its line and, when it is gone,
// those that it accepted, unless they must not run twice. It may hold the latter still, or again when it answers next.
func (c *Client) redispatch(p *replica, gone bool) {
	for _, i := range p.line.clear() {
		if t := &c.tasks[i]; t.state == queued && t.scheduler == p.index {
			c.dispatch(i, p.index+1)
		}
	}
	if !gone {
		return
	}
	p.losses++
	for i := range c.tasks {
		if t := &c.tasks[i]; t.state == accepted && t.scheduler == p.index && !t.once {
			c.suspect(int32(i), p)
			c.dispatch(int32(i), p.index+1)
		}
	}
}

// suspect notes that a scheduler may hold a task.
func (c *Client) suspect(i int32, p *replica) {
	c.doubtful[attempt{i, p.index}] = true
	c.tasks[i].doubted = true
}
