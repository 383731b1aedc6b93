package generator

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// absence is how long a scheduler is missing from the lists before it counts as having left: a data service that
// restarted learns of its schedulers one by one.
const absence = 10 * time.Second

// Member is a scheduler that takes part from now on, and its index.
type Member struct {
	Scheduler int
	cluster.SchedulerRef
}

// Members takes the list of the schedulers that are registered now. Where a scheduler listens is who it is: a new
// address joins, and a new process at an old one is found by the next poll. A scheduler leaves when a newer
// process of its name is registered elsewhere, or when it was missing for too long; it gets nothing new, and what it
// accepted is waited for. An empty list says that the data service knows nothing yet.
func (c *Client) Members(now time.Duration, listed []cluster.SchedulerRef) *Actions {
	c.begin(now)
	if len(listed) > 0 {
		for i := range listed {
			c.welcome(&listed[i])
		}
		for i := range c.schedulers {
			c.miss(&c.schedulers[i], listed)
		}
	}
	return c.finish()
}

// admit gives a scheduler its index.
func (c *Client) admit(ref cluster.SchedulerRef) *replica {
	i := int32(len(c.schedulers))
	c.schedulers = append(c.schedulers, replica{index: i, ref: ref, missing: Never})
	c.members = append(c.members, i)
	return &c.schedulers[i]
}

// welcome takes note that a scheduler is registered.
func (c *Client) welcome(ref *cluster.SchedulerRef) {
	at := slices.IndexFunc(c.schedulers, func(p replica) bool { return p.ref.Address == ref.Address })
	if at < 0 {
		c.join(c.admit(*ref))
		return
	}
	p := &c.schedulers[at]
	p.missing = Never
	if ref.Incarnation >= p.ref.Incarnation { // where a former process is listed as well, the newer one is there
		p.ref = *ref
	}
	switch {
	case !p.left:
		return
	case p.dropped:
		c.set(p, standing{})
		*p = replica{index: p.index, ref: p.ref, missing: Never}
		c.join(p)
	default:
		c.set(p, standing{down: p.down, draining: p.draining})
		c.report(p, Joined, nil)
	}
	c.recount()
}

// join has a scheduler connected, and asked which process it is.
func (c *Client) join(p *replica) {
	c.report(p, Joined, nil)
	c.actions.Join = append(c.actions.Join, Member{int(p.index), p.ref})
	c.poll(p, c.now)
}

// miss takes note that a scheduler is not registered, if so.
func (c *Client) miss(p *replica, listed []cluster.SchedulerRef) {
	if p.left || slices.ContainsFunc(listed, func(ref cluster.SchedulerRef) bool { return ref.Address == p.ref.Address }) {
		return
	}
	if p.missing == Never {
		p.missing = c.now
	}
	moved := slices.ContainsFunc(listed, func(ref cluster.SchedulerRef) bool { // and no former process that registered again
		return ref.Name == p.ref.Name && ref.Incarnation > p.ref.Incarnation
	})
	if moved || c.now-p.missing >= absence {
		c.report(p, Left, nil)
		c.set(p, standing{down: p.down, draining: p.draining, left: true})
		c.recount()
		c.redispatch(p, false)
	}
}

// recount lists the members anew.
func (c *Client) recount() {
	c.members = c.members[:0]
	for i := range c.schedulers {
		if !c.schedulers[i].left {
			c.members = append(c.members, int32(i))
		}
	}
}
