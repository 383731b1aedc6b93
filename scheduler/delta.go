package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// account books one placement on a node's stream and flushes when the batch is full (Algorithm 1,
// lines 4-7). A policy without a cache has nobody to keep up to date.
func (r *Replica) account(now time.Duration, index int, load cluster.Load) int64 {
	n := &r.nodes.slots[index]
	number := n.stream.place(load, r.cfg.SelfCorrection)
	r.placedThere(index, load)
	r.decisions++
	if r.wants.Loads == Unread {
		return number
	}
	r.touch(index)
	r.flushing = true
	r.unflushed++
	if r.unflushed >= r.cfg.DeltaBatch {
		r.flush(now)
	}
	return number
}

// flush hands out one aggregated delta: P of every worker touched since the last one.
func (r *Replica) flush(now time.Duration) {
	delta := &cluster.Delta{Scheduler: r.cfg.Name, Incarnation: r.cfg.Incarnation, Decisions: r.decisions,
		Experience: r.experience.take(), Placed: make([]cluster.Placed, 0, len(r.nodes.dirty))}
	for _, i := range r.nodes.dirty {
		n := &r.nodes.slots[i]
		if !n.stream.dirty {
			continue // it left, or is listed twice
		}
		n.stream.dirty = false
		delta.Placed = append(delta.Placed, cluster.Placed{Node: n.Name, NodeIncarnation: n.Incarnation,
			Number: n.stream.number, Placed: n.stream.placed})
	}
	r.nodes.dirty = r.nodes.dirty[:0]
	r.unflushed = 0
	r.flushing = r.experience.waits()
	r.flushedAt = now
	r.actions.Flush = append(r.actions.Flush, delta)
}

// Merge makes one delta of several, oldest first, that wait for a busy data service: of each worker the
// newest P says everything.
func Merge(deltas []*cluster.Delta) *cluster.Delta {
	newest := deltas[len(deltas)-1]
	if len(deltas) == 1 {
		return newest
	}
	merged := &cluster.Delta{Scheduler: newest.Scheduler, Incarnation: newest.Incarnation, Decisions: newest.Decisions}
	merged.Experience = mergeExperience(deltas)
	seen := map[string]bool{}
	for i := len(deltas) - 1; i >= 0; i-- {
		for j := range deltas[i].Placed {
			if p := &deltas[i].Placed[j]; !seen[p.Node] {
				seen[p.Node] = true
				merged.Placed = append(merged.Placed, *p)
			}
		}
	}
	return merged
}

// FlushFailed puts the workers of a delta that did not arrive into the next one. Nothing else needs to
// be kept: P is cumulative.
func (r *Replica) FlushFailed(d *cluster.Delta) {
	for i := range d.Placed {
		if index, ok := r.nodes.byName[d.Placed[i].Node]; ok {
			r.touch(index)
		}
	}
	r.experience.untaken(d.Experience)
	r.flushing = true
}

// Resync puts every worker into the next delta: the data service lost its state.
func (r *Replica) Resync() {
	if r.wants.Loads == Unread {
		return
	}
	for i := range r.nodes.slots {
		if n := &r.nodes.slots[i]; n.present && n.stream.number > r.nodes.base {
			r.touch(i)
		}
	}
	r.experience.shareAll()
	r.flushing = true
}

// touch marks a node's stream for the next delta.
func (r *Replica) touch(index int) {
	if n := &r.nodes.slots[index]; !n.stream.dirty {
		n.stream.dirty = true
		r.nodes.dirty = append(r.nodes.dirty, index)
	}
}
