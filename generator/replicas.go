package generator

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

const (
	drainRest    = time.Second            // before a draining scheduler is asked again
	overloadRest = 100 * time.Millisecond // before an overloaded one is
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

	failures int    // polls in a row
	cursor   Cursor // of the results
}

// standing is what keeps a scheduler from taking tasks, until further notice.
type standing struct {
	down     bool // does not answer
	draining bool // answers, and takes nothing
	left     bool // is not registered any more
}

// takes reports whether a submission has a chance.
func (p *replica) takes(now time.Duration) bool { return !p.down && !p.left && now >= p.restUntil }

// preferred is the scheduler of a task's first submission: in turn, or with a share that goes to the first.
func (c *Client) preferred(i int32) int32 {
	n, skew := int32(len(c.members)), c.cfg.Skew
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
	t.state = queued
	for k := range n {
		p := &c.schedulers[(preferred+k)%n]
		if p.takes(c.now) {
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
	if len(c.unassigned) == 0 || !slices.ContainsFunc(c.schedulers, func(p replica) bool { return p.takes(c.now) }) {
		return
	}
	for _, i := range c.unassigned { // every one of them finds a scheduler, so none comes back here
		if t := &c.tasks[i]; t.state == queued && t.scheduler == nobody {
			c.dispatch(i, c.preferred(i))
		}
	}
	c.unassigned = c.unassigned[:0]
}

// rest leaves a scheduler alone for a while; what waits for it goes elsewhere.
func (c *Client) rest(p *replica, err error, d time.Duration) {
	p.trouble, p.restUntil = err, c.now+d
	c.redispatch(p, false)
}

// lose takes note that a scheduler does not answer; what it had goes elsewhere.
func (c *Client) lose(p *replica, err error) {
	p.trouble = err
	if !p.down {
		c.report(p, Silent, err)
		c.set(p, standing{down: true, draining: p.draining, left: p.left})
		c.redispatch(p, true)
	}
}

// recovered takes note that a scheduler takes tasks, or answers again.
func (c *Client) recovered(p *replica) {
	if p.down {
		c.report(p, Back, nil)
	}
	c.set(p, standing{left: p.left})
	p.restUntil = 0
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
// those that it accepted. It may hold the latter still, or again when it answers next.
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
		if t := &c.tasks[i]; t.state == accepted && t.scheduler == p.index {
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
