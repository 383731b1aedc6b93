package scheduler

import (
	"slices"

	"dodoor/internal/cluster"
)

// on returns what is known of a name on a class, with room for it.
func (n *named) on(class cluster.ClassID) *onClass {
	for len(n.classes) <= int(class) {
		n.classes = append(n.classes, nil)
	}
	if n.classes[class] == nil {
		n.classes[class] = &onClass{}
	}
	return n.classes[class]
}

// add adds a writer's first entry.
func (x *experience) add(n *named, class cluster.ClassID, s *seen) {
	s.of, s.class = n, class
	on := n.on(class)
	if s.own != nil {
		x.own++
		on.entries = slices.Insert(on.entries, 0, s)
	} else {
		x.foreign++
		on.entries = append(on.entries, s)
	}
	n.entries++
}

// write returns the own entry of a name on a class, to be changed: it travels with one of the next deltas.
func (x *experience) write(n *named, class cluster.ClassID) *seen {
	on := n.on(class)
	s := on.own()
	if s == nil {
		s = x.succeed(n, on)
		s.Scheduler, s.Incarnation, s.Name, s.Class = x.writer, x.process, n.name, x.classes.ClassName(class)
		x.add(n, class, s)
	}
	x.number++
	s.Number = x.number
	needs := x.ownNeeds(n).all
	s.Cores, s.Memory = needs.cores, needs.memory
	n.hear(&s.Experience)
	x.share(s)
	x.use(n)
	return s
}

// own returns the entry that this replica writes; nil: there is none.
func (on *onClass) own() *seen {
	if len(on.entries) > 0 && on.entries[0].own != nil {
		return on.entries[0]
	}
	return nil
}

// succeed returns a new own entry, which goes on from what an earlier process of this scheduler has told of a name on a class.
func (x *experience) succeed(n *named, on *onClass) *seen {
	own := &seen{own: &ownRuns{}}
	i := slices.IndexFunc(on.entries, func(s *seen) bool { return s.Scheduler == x.writer })
	if i < 0 {
		return own
	}
	former := on.entries[i].Experience
	on.entries = slices.Delete(on.entries, i, i+1)
	x.foreign--
	n.entries--
	for _, run := range slices.Backward(former.Runs) {
		own.own.keep(run)
	}
	own.own.off, own.own.steady, own.own.since = float64(former.Off)/1000, float64(former.SteadyLog)/1000, former.SteadyRuns
	own.Experience, own.Runs = former, nil
	return own
}

// share has an own entry travel with one of the next deltas.
func (x *experience) share(s *seen) {
	if !s.own.waits && !x.silent {
		s.own.waits = true
		x.changed = append(x.changed, s)
	}
}

// waits reports whether something is to travel with the next delta.
func (x *experience) waits() bool { return x != nil && len(x.changed) > 0 }

// take returns what travels with a delta.
func (x *experience) take() []cluster.Experience {
	if x == nil || len(x.changed) == 0 {
		return nil
	}
	n := 0
	var travels []cluster.Experience
	for n < len(x.changed) && len(travels) < perDelta {
		s := x.changed[n]
		n++
		if !s.own.waits {
			continue // it was forgotten
		}
		s.own.waits = false
		s.Runs = s.own.latest()
		travels = append(travels, s.Experience)
	}
	x.changed = slices.Delete(x.changed, 0, n)
	return travels
}

// latest returns the newest runs, the newest first.
func (o *ownRuns) latest() []cluster.Run {
	runs := make([]cluster.Run, min(len(o.runs), cluster.MaxRuns))
	for i := range runs {
		runs[i] = o.run(i)
	}
	return runs
}

// run returns the newest run but i.
func (o *ownRuns) run(i int) cluster.Run {
	return o.runs[(o.next-1-i+2*len(o.runs))%len(o.runs)]
}

// untaken has what a delta carried that did not arrive travel with one of the next.
func (x *experience) untaken(lost []cluster.Experience) {
	if x == nil {
		return
	}
	for i := range lost {
		if n := x.names[lost[i].Name]; n != nil {
			class := x.classes.Class(lost[i].Class)
			if int(class) < len(n.classes) && n.classes[class] != nil {
				x.again(n.classes[class])
			}
		}
	}
}

func (x *experience) again(on *onClass) {
	if s := on.own(); s != nil {
		x.share(s)
	}
}

// shareAll has everything travel again, what was used last first.
func (x *experience) shareAll() {
	if x == nil {
		return
	}
	for n := x.newest; n != nil; n = n.older {
		for _, on := range n.classes {
			if on != nil {
				x.again(on)
			}
		}
	}
}

// merge takes what other schedulers have seen.
func (x *experience) merge(told []cluster.Experience) {
	if x == nil {
		return
	}
	for i := range told {
		e := &told[i]
		if len(e.Runs) > 0 {
			x.clock = max(x.clock, e.Runs[0].At)
		}
		class, known := x.classes.classes[e.Class]
		if !known {
			continue // no node is of it
		}
		x.key = append(x.key[:0], e.Name...)
		if e.Scheduler == x.writer && (e.Incarnation >= x.process || x.writes(class)) {
			continue
		}
		if n := x.find(); x.replace(n, class, e) {
			x.use(n)
			x.refresh(n, class)
		}
	}
	x.bound()
}

// writes reports whether there is an own entry of the name in key.
func (x *experience) writes(class cluster.ClassID) bool {
	n := x.names[string(x.key)]
	return n != nil && int(class) < len(n.classes) && n.classes[class] != nil && n.classes[class].own() != nil
}

// replace takes another writer's entry in, and reports whether it was news.
func (x *experience) replace(n *named, class cluster.ClassID, e *cluster.Experience) bool {
	on := n.on(class)
	i := slices.IndexFunc(on.entries, func(s *seen) bool { return s.own == nil && s.Scheduler == e.Scheduler })
	if i < 0 {
		s := &seen{Experience: x.interned(e, n)}
		x.add(n, class, s)
		n.hear(&s.Experience)
		return true
	}
	s := on.entries[i]
	if e.Incarnation < s.Incarnation || e.Incarnation == s.Incarnation && e.Number <= s.Number {
		return false
	}
	s.Experience = x.interned(e, n)
	n.hear(&s.Experience)
	return true
}

// interned is an entry that shares the words of all others.
func (x *experience) interned(e *cluster.Experience, n *named) cluster.Experience {
	own := *e
	own.Name, own.Class = n.name, x.classes.ClassName(x.classes.Class(e.Class))
	if x.writers[e.Scheduler] == "" {
		if len(x.writers) == sharedWriters {
			clear(x.writers) // most are gone
		}
		x.writers[e.Scheduler] = e.Scheduler
	}
	own.Scheduler = x.writers[e.Scheduler]
	return own
}

// mergeExperience returns what several deltas carry, oldest first: of each entry the newest says everything.
func mergeExperience(deltas []*cluster.Delta) (merged []cluster.Experience) {
	type key struct{ name, class string }
	known := map[key]bool{}
	for _, d := range slices.Backward(deltas) {
		for i := range d.Experience {
			e := &d.Experience[i]
			if k := (key{e.Name, e.Class}); !known[k] {
				known[k] = true
				merged = append(merged, *e)
			}
		}
	}
	return merged
}
