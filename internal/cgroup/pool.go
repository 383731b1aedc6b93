package cgroup

import (
	"slices"
	"sync"
)

// spares are the groups of tasks that have ended and left nobody in them, for tasks with the same limits: to make a group and to
// remove it takes the kernel longer than many a task runs.
type spares struct {
	mu     sync.Mutex
	groups []*Group // the one that has waited longest first
}

// mostSpares bounds how many a process keeps.
const mostSpares = 256

// take returns the one that has waited longest, in which the kernel has had most time to tidy up; nil: there is none.
func (s *spares) take(l Limits) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.groups, func(g *Group) bool { return g.limits == l })
	if i < 0 {
		return nil
	}
	g := s.groups[i]
	s.groups = slices.Delete(s.groups, i, i+1)
	return g
}

// keep keeps a group, and returns one that there is no room for any more: its limits may not come back. nil: there was room.
func (s *spares) keep(g *Group) (out *Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.groups) >= mostSpares {
		out = s.groups[0]
		s.groups = slices.Delete(s.groups, 0, 1)
	}
	s.groups = append(s.groups, g)
	return out
}

// renewed returns a group that serves again; nil: there is none.
func (c *Groups) renewed(l Limits) *Group {
	g := c.spares.take(l)
	if g == nil || c.version.Renew(g) {
		return g
	}
	_ = g.Remove() // what stays is for Close
	return nil
}

// Release takes the group of a task back that has ended. It may serve again where nothing of the task is left in it and again
// says that tasks have no right to change their groups. Otherwise it goes, or the one that has waited longest does for it.
func (c *Groups) Release(g *Group, again bool) error {
	if again && c.version.Renewable() && g.empty.Load() {
		g = c.spares.keep(g)
	}
	if g == nil {
		return nil
	}
	return g.Remove()
}
