package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// A view that nobody renews is worse than none: everybody goes on to place on what looked idle when it was taken. So the
// view
// of a node that is too old in an outage, or of which no snapshot tells, is adrift. Instead of the snapshot it shows what this
// replica knows by itself, its own placements there that have not ended, as many times as there are schedulers: they
// get similar tasks and do the same. The next row of the node is exact again.

// drift is the view of a node while no snapshot renews it.
type drift struct {
	adrift   bool
	base     cluster.Load // what the view would be
	said     cluster.Load // by the worker, when it was asked
	own      cluster.Load // placed, and not ended; since it said so, if it did
	times    int64        // each of them counts
	reported int64        // newest report of the process in a row
}

// freshness says how old the view may become.
type freshness struct {
	after     time.Duration // 0: as the usual distance of pushes says
	distances [8]time.Duration
	seen      int  // distances so far
	first     bool // the next distance is the first after a roster: nobody knows how long nothing was to be done
	away      bool // the data service does not know this replica, or cannot be reached
	stale     bool
	adrift    bool // some node may be
}

const (
	// staleFactor is how many usual distances of pushes make a view stale.
	staleFactor = 4
	// staleLeast is the least age of a stale view where nobody sets it: pushes are not that regular.
	staleLeast = 2 * time.Second
)

// observe takes the time between two pushes of which the second was due to a full batch.
func (f *freshness) observe(distance time.Duration) {
	if f.first {
		f.first = false
		return
	}
	f.distances[f.seen%len(f.distances)] = distance
	f.seen++
}

// limit returns the age at which a view is stale; 0: none, as nothing is usual yet. It is the median that counts, of
// two the shorter, so neither an outage nor an idle time becomes the rule.
func (f *freshness) limit() time.Duration {
	if f.after > 0 || f.seen == 0 {
		return f.after
	}
	sorted := f.distances
	last := sorted[:min(f.seen, len(sorted))]
	slices.Sort(last)
	return max(staleFactor*last[(len(last)-1)/2], staleLeast)
}

// age looks whether the view has become stale: it is old, and the data service is away. Pushes come with decisions, so where
// few are made an old view is as good as a new one. A view that this replica corrects itself stays as it is, corrected: that has
// proved better than own tasks alone.
func (r *Replica) age(now time.Duration) {
	if r.fresh.stale || !r.fresh.away || r.cfg.SelfCorrection || r.wants.Loads == Unread || r.service == 0 {
		return
	}
	if limit := r.fresh.limit(); limit == 0 || now-r.view.Fresh < limit {
		return
	}
	r.fresh.stale = true
	r.setAdrift(func(int) bool { return true })
}

// setAdrift shows what this replica knows in the views of these nodes.
func (r *Replica) setAdrift(which func(index int) bool) {
	if r.wants.Loads == Unread || r.Riders() {
		return
	}
	fresh := map[int]bool{}
	for i := range r.nodes.slots {
		if n := &r.nodes.slots[i]; n.present && !n.drift.adrift && which(i) {
			n.drift = drift{adrift: true, base: r.view.nodes[i].Load, times: int64(max(r.view.Schedulers, 1)), reported: n.drift.reported}
			fresh[i] = true
			r.know(i, cluster.Load{})
		}
	}
	if len(fresh) == 0 {
		return
	}
	r.fresh.adrift = true
	for _, t := range r.tasks {
		if (t.phase == cluster.Sent || t.phase == cluster.Accepted) && fresh[int(t.node)] {
			r.know(int(t.node), cluster.LoadOf(r.shape(t)))
		}
	}
}

// know notes a change of what is placed on a node from here.
func (r *Replica) know(index int, change cluster.Load) {
	if d := &r.nodes.slots[index].drift; d.adrift {
		d.own = d.own.Add(change)
		r.view.nodes[index].Load = d.said.Add(d.own.Times(d.times)).AtLeastZero()
	}
}

// placedThere notes an own placement in the view of a node.
func (r *Replica) placedThere(index int, load cluster.Load) {
	v, d := &r.view.nodes[index], &r.nodes.slots[index].drift
	switch {
	case d.adrift && r.cfg.SelfCorrection:
		d.base = d.base.Add(load)
		r.know(index, load)
	case d.adrift:
		r.know(index, load)
	case r.cfg.SelfCorrection:
		v.Load = v.Load.Add(load)
	}
}

// endedThere notes that a placement is no load any more.
func (r *Replica) endedThere(t *task) {
	if r.nodes.slots[t.node].drift.adrift {
		r.know(int(t.node), cluster.Load{}.Sub(cluster.LoadOf(r.shape(t))))
	}
}

// exact ends the drift of a node.
func (r *Replica) exact(index int, load cluster.Load) {
	r.nodes.slots[index].drift.adrift = false
	r.view.nodes[index].Load = load
}

// settle takes what a worker says that it holds, at this moment.
func (r *Replica) settle(index int, load cluster.Load) {
	d := &r.nodes.slots[index].drift
	d.said, d.own, d.times, d.base = load, cluster.Load{}, 1, load
	r.view.nodes[index].Load = load
}

// renewed ends the drift where nothing has changed since the snapshot that this one builds on. A node of which it says
// nothing drifts on.
func (r *Replica) renewed(incremental bool) {
	r.fresh.stale = false
	if !r.fresh.adrift {
		return
	}
	r.fresh.adrift = false
	for i := range r.nodes.slots {
		n := &r.nodes.slots[i]
		switch {
		case !n.drift.adrift:
		case incremental && n.listed:
			r.exact(i, n.drift.base)
		default:
			r.fresh.adrift = true
		}
	}
}
