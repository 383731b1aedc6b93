package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// templates keeps one copy of what the tasks of a job share, by its digest, for as long as a live task or a
// job that is kept refers to it. What nobody refers to any more stays until the next tick, so that the tasks of
// one submission can name what the first of them brought, whatever became of that one.
type templates struct {
	byDigest map[string]*template
	idle     []*template     // without a reference when they were last looked at
	messages int64           // written so far
	bytes    int             // of all
	barred   []*bar          // those that hold
	bars     map[permit]*bar // of the templates here, and those that hold
	journal  *journal
}

// template is a template here, and what is known of it at the workers.
type template struct {
	digest  string
	shared  *cluster.Template
	program string // what is learned of it is learned of this
	refs    int
	again   int             // of them of ended tasks that may run again
	known   cluster.NodeSet // worker processes that have it
	permit  string
	bars    []*bar // of its permit, one for each user
	kept    bool   // the journal has it
	inside  int64  // the message that it travels in
}

func newTemplates() templates {
	return templates{byDigest: map[string]*template{}, bars: map[permit]*bar{}, journal: &journal{}}
}

// find returns what a command names, and takes it in where the command brings it along; nil: it is not known.
func (s *templates) find(c *cluster.Command) *template {
	t := s.byDigest[c.Digest]
	if t == nil && c.Template != nil {
		t = &template{digest: c.Digest, shared: c.Template, program: programName(c.Template, c.Digest), permit: c.Template.Permit()}
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

// sweep drops what nobody refers to, and lets workers be asked again that did not allow a template long ago.
func (s *templates) sweep(now time.Duration) {
	s.lift(now)
	for _, t := range s.idle {
		if t.refs == 0 && s.byDigest[t.digest] == t { // it may have been idle twice
			delete(s.byDigest, t.digest)
			s.bytes -= t.shared.Size()
			for _, b := range t.bars {
				b.templates--
				s.dropBar(b)
			}
			if t.kept {
				s.journal.drop(templateKey(t.digest))
			}
		}
	}
	clear(s.idle)
	s.idle = s.idle[:0]
}

// forget takes back what is known of the worker at an index: another process comes, or none.
func (s *templates) forget(index int) {
	for _, t := range s.byDigest {
		t.known.Remove(index)
	}
	for _, b := range s.bars {
		b.nodes.Remove(index)
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
