package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// bar is the workers that do not allow the templates of one permit to one user: tasks of many templates may run one program.
type bar struct {
	permit
	templates int             // of it here
	nodes     cluster.NodeSet // worker processes
	why       string          // the latest of them said; empty: there is none
	since     time.Duration   // it said so
}

// barredFor is how long a worker is not asked again for a program that it does not allow: a program can be installed
// meanwhile.
const barredFor = time.Minute

// permit is all by which a worker judges whether it may run a template.
type permit struct{ template, user string }

// barFor returns the bar of a template's permit, for a user.
func (s *templates) barFor(t *template, user string) *bar {
	for _, b := range t.bars {
		if b.user == user {
			return b
		}
	}
	p := permit{t.permit, user}
	b := s.bars[p]
	if b == nil {
		b = &bar{permit: p}
		s.bars[p] = b
	}
	b.templates++
	t.bars = append(t.bars, b)
	return b
}

// dropBar forgets a bar that says nothing, and that no template needs.
func (s *templates) dropBar(b *bar) {
	if b.templates == 0 && b.why == "" && s.bars[b.permit] == b {
		delete(s.bars, b.permit)
	}
}

// bar keeps all tasks of a permit from a node, which says why.
func (s *templates) bar(now time.Duration, b *bar, index int, why string) {
	if why == "" {
		why = "a worker does not allow this command, and does not say why"
	}
	if b.why == "" {
		s.barred = append(s.barred, b)
	}
	b.nodes.Add(index)
	b.why, b.since = why, now
}

// lift lets workers be asked again that did not allow something long ago.
func (s *templates) lift(now time.Duration) {
	s.barred = slices.DeleteFunc(s.barred, func(b *bar) bool {
		if now-b.since < barredFor {
			return false
		}
		b.nodes.Clear()
		b.why = ""
		s.dropBar(b)
		return true
	})
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
	if t.batch.bar == nil || t.batch.bar.why == "" {
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
