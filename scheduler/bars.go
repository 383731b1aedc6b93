package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// bar is the workers that do not allow the templates of one permit: tasks of many templates may run one program.
type bar struct {
	permit    string
	templates int             // of it here
	nodes     cluster.NodeSet // worker processes
	why       string          // the latest of them said; empty: there is none
	since     time.Duration   // it said so
}

// barredFor is how long a worker is not asked again for a program that it does not allow: a program can be installed
// meanwhile.
const barredFor = time.Minute

// barOf returns the bar of a permit, for one more template.
func (s *templates) barOf(permit string) *bar {
	b := s.bars[permit]
	if b == nil {
		b = &bar{permit: permit}
		s.bars[permit] = b
	}
	b.templates++
	return b
}

// dropBar forgets a bar that says nothing, and that no template needs.
func (s *templates) dropBar(b *bar) {
	if b.templates == 0 && b.why == "" && s.bars[b.permit] == b {
		delete(s.bars, b.permit)
	}
}

// bar keeps all tasks of a template, and of those of the same permit, from a node, which says why.
func (s *templates) bar(now time.Duration, t *template, index int, why string) {
	if why == "" {
		why = "a worker does not allow this command, and does not say why"
	}
	if t.bar.why == "" {
		s.barred = append(s.barred, t.bar)
	}
	t.bar.nodes.Add(index)
	t.bar.why, t.bar.since = why, now
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
	if t.batch.template == nil || t.batch.template.bar.why == "" {
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
