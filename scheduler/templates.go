package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// templates keeps one copy of what the tasks of a job share, by its digest, for as long as a live task or a
// job that is kept refers to it. What nobody refers to any more stays until the next tick, so that the tasks of
// one submission can name what the first of them brought, whatever became of that one.
type templates struct {
	byDigest map[string]*template
	idle     []*template // without a reference when they were last looked at
	messages int64       // written so far
	bytes    int         // of all
	barred   []*template // somewhere
}

// template is a template here, and what is known of it at the workers.
type template struct {
	digest string
	shared *cluster.Template
	refs   int
	again  int             // of them of ended tasks that may run again
	known  cluster.NodeSet // worker processes that have it
	barred cluster.NodeSet // worker processes that may not run it
	why    string          // the latest of them said; empty: there is none
	since  time.Duration   // it said so
	inside int64           // the message that it travels in
}

func newTemplates() templates { return templates{byDigest: map[string]*template{}} }

// find returns what a command names, and takes it in where the command brings it along; nil: it is not known.
func (s *templates) find(c *cluster.Command) *template {
	t := s.byDigest[c.Digest]
	if t == nil && c.Template != nil {
		t = &template{digest: c.Digest, shared: c.Template}
		s.byDigest[c.Digest] = t
		s.idle = append(s.idle, t)
		s.bytes += c.Template.Size()
	}
	return t
}

// retain and release count a reference.
func (t *template) retain() {
	if t != nil {
		t.refs++
	}
}

func (s *templates) release(t *template) {
	if t == nil {
		return
	}
	if t.refs--; t.refs == 0 {
		s.idle = append(s.idle, t)
	}
}

// barredFor is how long a worker is not asked again for a template that it does not allow: a program can be installed
// meanwhile.
const barredFor = time.Minute

// sweep drops what nobody refers to, and lets workers be asked again that did not allow a template long ago.
func (s *templates) sweep(now time.Duration) {
	s.barred = slices.DeleteFunc(s.barred, func(t *template) bool {
		if now-t.since < barredFor {
			return false
		}
		t.barred.Clear()
		t.why = ""
		return true
	})
	for _, t := range s.idle {
		if t.refs == 0 && s.byDigest[t.digest] == t { // it may have been idle twice
			delete(s.byDigest, t.digest)
			s.bytes -= t.shared.Size()
		}
	}
	clear(s.idle)
	s.idle = s.idle[:0]
}

// forget takes back what is known of the worker at an index: another process comes, or none.
func (s *templates) forget(index int) {
	for _, t := range s.byDigest {
		t.known.Remove(index)
		t.barred.Remove(index)
	}
}

// travels reports whether a template has to travel in the message that is being written to a node: it is not
// known there, and does not travel in the message already.
func (s *templates) travels(t *template, index int) bool {
	if t.known.Has(index) || t.inside == s.messages {
		return false
	}
	t.inside = s.messages
	return true
}

// answered takes what a worker's answer says of the templates in a message: it has those of the placements that it
// took, and not those that it says it does not know.
func (s *templates) answered(batch []Dispatch, reply *cluster.EnqueueReply) {
	for i := range batch {
		if d := &batch[i]; d.template != nil && refusalOf(reply, d.Assignment.Number) == nil {
			d.template.known.Add(d.Node)
		}
	}
	for i := range batch {
		d := &batch[i]
		if d.template == nil {
			continue
		}
		if refusal := refusalOf(reply, d.Assignment.Number); refusal != nil && refusal.Code == cluster.UnknownTemplate {
			d.template.known.Remove(d.Node)
		}
	}
}

// bar keeps all tasks of a template from a node, which says why.
func (s *templates) bar(now time.Duration, t *template, index int, why string) {
	if why == "" {
		why = "a worker does not allow this command, and does not say why"
	}
	if t.why == "" {
		s.barred = append(s.barred, t)
	}
	t.barred.Add(index)
	t.why, t.since = why, now
}

// isBarred reports whether nodes that could run a task do not allow its command, and no other node could, whether that
// takes placements now or not: one that is out of reach for a moment may be the one that allows it.
func (r *Replica) isBarred(t *task) bool {
	untried := cluster.Task{Kind: &t.batch.Kind}
	for i := range r.nodes.slots {
		if r.nodes.slots[i].present && r.view.Feasible(i, &untried) {
			return false
		}
	}
	return r.meetsBar(t)
}

// meetsBar reports whether a node that takes placements could run a task, but does not allow its command.
func (r *Replica) meetsBar(t *task) bool {
	if t.batch.template == nil || t.batch.template.why == "" {
		return false
	}
	unbarred := t.batch.Kind
	unbarred.Barred = nil
	allowed := cluster.Task{Kind: &unbarred}
	return slices.ContainsFunc(r.view.candidates, func(i int32) bool {
		return t.batch.Barred.Has(int(i)) && r.view.Feasible(int(i), &allowed)
	})
}

// hopeless reports whether a task need not wait for a node: all that could run it do not allow it. One that ran before was
// allowed somewhere, and that worker may come back.
func (r *Replica) hopeless(t *task) bool {
	return (t.trouble == nil || t.trouble.losses+t.trouble.failures == 0) && r.isBarred(t)
}
