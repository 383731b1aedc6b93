package cgroup

import "sync"

// spares are the groups of tasks that have ended and left nobody in them, for tasks with the same limits: to make a group and to
// remove it takes the kernel longer than many a task runs.
type spares struct {
	mu     sync.Mutex
	n      int
	groups map[Limits][]*Group
}

// mostSpares bounds how many a process keeps.
const mostSpares = 256

// take returns the one that has waited longest, in which the kernel has had most time to tidy up; nil: there is none.
func (s *spares) take(l Limits) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.groups[l]
	if len(all) == 0 {
		return nil
	}
	s.n--
	s.groups[l] = all[1:]
	return all[0]
}

// keep reports whether there was room.
func (s *spares) keep(g *Group) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= mostSpares {
		return false
	}
	if s.groups == nil {
		s.groups = map[Limits][]*Group{}
	}
	s.n++
	s.groups[g.limits] = append(s.groups[g.limits], g)
	return true
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
// says that tasks have no right to change their groups. Otherwise it goes.
func (c *Groups) Release(g *Group, again bool) error {
	if again && c.version.Renewable() && g.empty.Load() && c.spares.keep(g) {
		return nil
	}
	return g.Remove()
}
